"""A simple script with sqlite-utils for the same task: read the pages, upsert each of them, add indexes for common queries.

It reads the list once, removes nothing, keeps no history and proves nothing. Arguments: the service's address, the file, the page size.
"""

import json
import sys
from itertools import count
from urllib.request import Request, urlopen

from sqlite_utils import Database

base_url, path, page_size = sys.argv[1], sys.argv[2], sys.argv[3]


def read_page(page_no):
    url = f"{base_url}/v2/document-exports?pageNo={page_no}&pageSize={page_size}"
    with urlopen(Request(url, headers={"authorization": "Bearer bench"})) as response:
        return json.load(response)


def row_of(item, connections):
    row = dict(item)
    for name in ("sourceConnection", "destinationConnection"):
        connection = row.pop(name, None)
        if connection is not None:
            connections[connection["id"]] = connection
            row[f"{name}Id"] = connection["id"]
    return row


def main():
    db = Database(path)
    db.enable_wal()
    exports = db["document_exports"]
    for page_no in count(1):
        page = read_page(page_no)
        connections = {}
        rows = [row_of(item, connections) for item in page["items"]]
        # The list has no ids, so a record is identified by its content.
        exports.upsert_all(rows, hash_id="id")
        db["connections"].upsert_all(connections.values(), pk="id")
        if page_no >= page["pagination"]["pageCount"]:
            break
    for column in ("sourceConnectionId", "destinationConnectionId", "exportedAt"):
        exports.create_index([column], if_not_exists=True)


main()
