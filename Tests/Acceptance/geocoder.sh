# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
#
# What an application asks a geocoder, whatever its vendor: exercise_geocoder CITY STREET-ADDRESS CITY'S-LATITUDE LONGITUDE COUNTRY.

exercise_geocoder() {
    export CITY=$1 COUNTRY=$5
    call geocoder geocode "{\"query\": \"$2, $1\", \"limit\": 3}"
    expect 'an address is found' 'status == 0 and result[0]["components"]["city"] == var["CITY"]'
    expect 'with its house number, country and whom to thank' \
        'result[0]["components"]["houseNumber"] and result[0]["components"]["countryCode"] == var["COUNTRY"] and result[0]["provider"]'
    call geocoder geocode "{\"query\": \"$1\"}"
    expect 'so is the city' 'status == 0 and result[0]["name"] == var["CITY"]'
    expect 'where it is' "abs(result[0][\"latitude\"] - ($3)) < 0.05 and abs(result[0][\"longitude\"] - ($4)) < 0.05"
    expect 'within its bounding box' \
        '(lambda b, p: b["south"] <= p["latitude"] <= b["north"] and b["west"] <= p["longitude"] <= b["east"])(result[0]["boundingBox"], result[0])'
    call geocoder geocode "{\"address\": {\"street\": \"$2\", \"city\": \"$1\"}, \"countries\": [\"$5\"]}"
    expect 'by the parts of an address, within a country' 'status == 0 and result[0]["components"]["city"] == var["CITY"]'
    call geocoder geocode "{\"query\": \"$1\", \"countries\": [\"JP\"]}"
    expect 'elsewhere there is none' 'status == 0 and result == []'
    call geocoder geocode '{"query": "Qwxyzburgh 4711"}'
    expect 'nothing is not a failure' 'status == 0 and result == []'
    call geocoder reverse "{\"latitude\": $3, \"longitude\": $4}"
    expect 'a coordinate has a name' 'status == 0 and result[0]["components"]["city"] == var["CITY"]'
    call geocoder reverse '{"latitude": 0.5, "longitude": -140.5}'
    expect 'the open sea has none' 'status == 0 and result == []'
    call geocoder reverse '{"latitude": 95, "longitude": 0}'
    expect 'a latitude of 95 degrees is invalid' 'status == 1 and code == "invalid"'
    call geocoder geocode '{"query": " "}'
    expect 'so is an empty question' 'status == 1 and code == "invalid"'
}
