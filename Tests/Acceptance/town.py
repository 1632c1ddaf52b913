# This file is part of the connector-host project.
# SPDX-License-Identifier: Apache-2.0
"""Writes an extract of an invented map, in OpenStreetMap's XML: a Berlin of two streets."""

from xml.sax.saxutils import quoteattr

LATITUDE, LONGITUDE = 52.5174, 13.3951
STAMP = 'version="1" timestamp="2026-01-01T00:00:00Z" changeset="1" uid="1" user="acceptance"'
nodes, ways, relations = [], [], []


def node(north, east, **tags):
    nodes.append((LATITUDE + north, LONGITUDE + east, tags))
    return len(nodes)


def way(points, **tags):
    ways.append((points, tags))
    return len(ways)


def house(north, east, number, street):
    node(north, east, **{"addr:housenumber": str(number), "addr:street": street, "addr:city": "Berlin",
                         "addr:postcode": "10117", "addr:country": "DE"})


def written(tags):
    return "".join(f"<tag k={quoteattr(name)} v={quoteattr(value)}/>" for name, value in tags.items())


corners = [node(north, east) for north, east in [(-.02, -.03), (-.02, .03), (.02, .03), (.02, -.03)]]
boundary = way(corners + corners[:1])
relations.append(([boundary], {"type": "boundary", "boundary": "administrative", "admin_level": "8", "name": "Berlin"}))
node(0, 0, place="town", name="Berlin", population="12000")
way([node(0, -.004 + .001 * step) for step in range(9)], highway="residential", name="Pariser Platz")
way([node(-.004 + .001 * step, .002) for step in range(9)], highway="residential", name="Bahnhofstraße")
for step in range(10):
    house(.0002, -.004 + .0008 * step, 2 * step + 1, "Pariser Platz")
    house(-.0038 + .0008 * step, .0022, 2 * step + 2, "Bahnhofstraße")
node(.0004, .001, amenity="cafe", name="Café am Markt", **{"addr:street": "Pariser Platz", "addr:housenumber": "7a"})

print('<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6">')
for number, (latitude, longitude, tags) in enumerate(nodes, 1):
    print(f'<node id="{number}" lat="{latitude:.7f}" lon="{longitude:.7f}" {STAMP}>{written(tags)}</node>')
for number, (points, tags) in enumerate(ways, 1):
    references = "".join(f'<nd ref="{point}"/>' for point in points)
    print(f'<way id="{number}" {STAMP}>{references}{written(tags)}</way>')
for number, (members, tags) in enumerate(relations, 1):
    print(f'<relation id="{number}" {STAMP}>', end="")
    print("".join(f'<member type="way" ref="{member}" role="outer"/>' for member in members), end="")
    print(f"{written(tags)}</relation>")
print("</osm>")
