#!/bin/bash
# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# The adapter `nominatim` with Nominatim from PyPI, over a database of PostgreSQL and PostGIS from Debian that is made for it
# with an invented map (town.py); then the same calls with `photon` and `google`.

source "$(dirname "$0")/harness.sh"
source "$(dirname "$0")/geocoder.sh"
NOMINATIM_VERSION=${NOMINATIM_VERSION:-5.3.3}

debian_packages postgresql-15-postgis-3 osm2pgsql libicu-dev pkg-config g++ python3-dev
virtual_environment "nominatim-db==$NOMINATIM_VERSION" "nominatim-api==$NOMINATIM_VERSION" \
    falcon uvicorn 'psycopg[binary]' 'sqlalchemy[asyncio]'

# PostgreSQL does not run as root.
postgres=/usr/lib/postgresql/15/bin
as_postgres=()
[ "$(id -u)" != 0 ] || as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups)
database_port=$(free_port)
mkdir "$scratch/database" "$scratch/map"
[ "$(id -u)" != 0 ] || chown postgres "$scratch/database"
(cd "$scratch/database" && "${as_postgres[@]}" "$postgres/initdb" --pgdata data --auth trust --username postgres > initdb.log)
cd "$scratch/map"
start postgres "${as_postgres[@]}" "$postgres/postgres" -D "$scratch/database/data" -p "$database_port" -k "$scratch/database" \
    -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off -c jit=off -c max_parallel_workers_per_gather=0
for second in {1..60}; do
    psql --quiet --host 127.0.0.1 --port "$database_port" --username postgres 2> "$scratch/psql.log" \
        --command 'CREATE ROLE nominatim SUPERUSER LOGIN' --command 'CREATE ROLE "www-data" LOGIN' && break
    sleep 1
done
export NOMINATIM_DATABASE_DSN="pgsql:host=127.0.0.1;port=$database_port;user=nominatim;dbname=nominatim"
python3 "$root/Tests/Acceptance/town.py" > town.osm
"$scratch/python/bin/nominatim" import --osm-file town.osm --offline --threads 2 --osm2pgsql-cache 50 \
    > "$scratch/import.log" 2>&1
port=$(free_port)
server=http://127.0.0.1:$port
start nominatim "$scratch/python/bin/nominatim" serve --server "127.0.0.1:$port"
await nominatim "$server/status"

nominatim() {
    configure << JSON
{"connectors": [{"name": "geocoder", "plugin": "nominatim", "config":
  {"endpoint": "$server", "userAgent": "connector-host-acceptance/1.0", "requestsPerSecond": 1000}}]}
JSON
}

section "nominatim $NOMINATIM_VERSION: opening"
nominatim
host status
expect 'the gate is open' 'status == 0 and gate("geocoder")["state"] == "open"'
expect 'the evidence is reachable: there are no credentials' 'evidence("geocoder") == ["reachable"]'

section "nominatim $NOMINATIM_VERSION: places"
exercise_geocoder Berlin 'Pariser Platz 1' 52.5174 13.3951 DE
call geocoder geocode '{"query": "Pariser Platz 5, Berlin"}'
expect 'the house of the extract, where it stands' \
    'result[0]["components"]["houseNumber"] == "5" and result[0]["components"]["street"] == "Pariser Platz" and (result[0]["latitude"], result[0]["longitude"]) == (52.5176, 13.3927)'
expect 'with the licence' '"OpenStreetMap" in result[0]["attribution"]'
call geocoder geocode '{"query": "Café am Markt"}'
expect 'by a name that is not ASCII' 'result[0]["name"] == "Café am Markt" and result[0]["components"]["street"] == "Pariser Platz"'
call geocoder reverse '{"latitude": 52.5160, "longitude": 13.3973}'
expect 'the nearest house' 'result[0]["components"]["street"] == "Bahnhofstraße"'
call geocoder geocode '{"query": "Berlin", "language": "en"}'
expect 'in another language' 'result[0]["components"]["country"] == "Germany"'
call geocoder geocode '{"query": "Pariser Platz", "limit": 1}'
expect 'one place, where one is asked for' 'len(result) == 1'

section "nominatim $NOMINATIM_VERSION: without its database"
# At once, without waiting for clients that are connected.
stop postgres INT
host status
expect 'the gate has failed: unavailable, with the words of the server' \
    'status == 1 and gate("geocoder")["error"]["code"] == "unavailable" and "onnect" in json.dumps(gate("geocoder")["error"])'

section "nominatim $NOMINATIM_VERSION: stopped"
stop nominatim
host status
expect 'the gate has failed: unavailable, with the cause' \
    'status == 1 and gate("geocoder")["error"]["code"] == "unavailable" and gate("geocoder")["error"]["cause"]'

for vendor in photon google; do
    section "$vendor (simulator): the same calls"
    simulate "$vendor"
    key=$([ "$vendor" = google ] && echo ', "key": "AIza-demo-key"' || true)
    configure << JSON
{"connectors": [{"name": "geocoder", "plugin": "$vendor", "config": {"endpoint": "$simulated"$key}}]}
JSON
    host status
    expect 'the gate is open' 'status == 0 and gate("geocoder")["state"] == "open"'
    exercise_geocoder Berlin 'Pariser Platz 1' 52.5174 13.3951 DE
done
