#!/usr/bin/python3
"""`taffrail catalog import`, and whose prices every output says it shows.

usage: prices.py TAFFRAIL"""

import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

POOL = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]}
"""
# SKU, type, what differs from a Linux machine on shared hardware, unit, USD; the price that counts
OFFERS = [
    ("A1", "m5.large", {}, "Hrs", "0.1070000000"),
    ("A2", "m5.large", {"operatingSystem": "Windows"}, "Hrs", "0.1990000000"),
    ("A3", "m5.large", {"preInstalledSw": "SQL Std"}, "Hrs", "0.5870000000"),
    ("A4", "m5.large", {"capacitystatus": "UnusedCapacityReservation"}, "Hrs", "0.0900000000"),
    ("A5", "m5.large", {"tenancy": "Dedicated"}, "Hrs", "0.1130000000"),
    ("A6", "m5.large", {"marketoption": "CapacityBlock"}, "Hrs", "0.0100000000"),
    ("A7", "m5.xlarge", {}, "Quantity", "7.0000000000"),
    ("A8", "m5.xlarge", {}, "Hrs", "0.2140000000"),
    ("A9", "m5.metal", {"productFamily": "Compute Instance (bare metal)", "tenancy": "Dedicated"},
     "Hrs", "5.1360000000"),
    ("B1", "m5.metal", {"productFamily": "Compute Instance (bare metal)", "tenancy": "Host"}, "Hrs",
     "0.0000000000"),
    ("B2", "x99.huge", {}, "Hrs", "3.0000000000"),
]
PRICES = {"m5.large": 0.107, "m5.metal": 5.136, "m5.xlarge": 0.214, "x99.huge": 3.0}
ATTRIBUTES = {"operatingSystem": "Linux", "preInstalledSw": "NA", "capacitystatus": "Used",
              "tenancy": "Shared", "operation": "RunInstances", "marketoption": "OnDemand",
              "productFamily": "Compute Instance", "regionCode": "eu-west-1"}
COLUMNS = {"productFamily": "Product Family", "tenancy": "Tenancy", "regionCode": "Region Code",
           "operatingSystem": "Operating System", "preInstalledSw": "Pre Installed S/W",
           "capacitystatus": "CapacityStatus", "operation": "operation",
           "marketoption": "MarketOption", "instanceType": "Instance Type"}


class Failure(Exception):
    pass


def expect(what, actual, expected):
    if actual != expected:
        raise Failure(f"{what} is {actual!r}, expected {expected!r}")


def holds(what, text, part):
    if part not in text:
        raise Failure(f"{what} lacks {part!r}:\n{text}")


def offer_json(regions=("eu-west-1",)):
    products, terms = {}, {}
    for region in regions:
        for sku, kind, different, unit, usd in OFFERS:
            attributes = {**ATTRIBUTES, **different, "instanceType": kind, "regionCode": region}
            sku = f"{sku}{region}"
            products[sku] = {"sku": sku, "productFamily": attributes.pop("productFamily"),
                             "attributes": {"servicecode": "AmazonEC2", **attributes}}
            terms[sku] = {f"{sku}.J": {"offerTermCode": "J", "sku": sku, "priceDimensions": {
                f"{sku}.J.6": {"unit": unit, "description": "$1 \"per\" {hour}",
                               "pricePerUnit": {"USD": usd}}}}}
    return json.dumps({"formatVersion": "v1.0", "offerCode": "AmazonEC2",
                       "publicationDate": "2026-11-12T21:00:00Z", "products": products,
                       "terms": {"OnDemand": terms, "Reserved": {"A1": {}}}})


def offer_csv():
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([["FormatVersion", "v1.0"], ["Disclaimer", "a \"list\",\nno more"],
                      ["Publication Date", "2026-11-12T21:00:00Z"], ["Version", "2"],
                      ["OfferCode", "AmazonEC2"]])
    writer.writerow(["SKU", "TermType", "Unit", "PricePerUnit", "Currency", *COLUMNS.values()])
    for sku, kind, different, unit, usd in OFFERS:
        attributes = {**ATTRIBUTES, **different, "instanceType": kind}
        for term, price in (("Reserved", "0.01"), ("OnDemand", usd)):
            writer.writerow([sku, term, unit, price, "USD", *(attributes[key] for key in COLUMNS)])
    return out.getvalue()


class Bench:
    def __init__(self, taffrail, folder):
        self.taffrail, self.folder = taffrail, pathlib.Path(folder)

    def run(self, *arguments, code=0, text=None):
        if text is not None:
            (self.folder / "list").write_text(text)
        done = subprocess.run([self.taffrail, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=300)
        if done.returncode != code:
            raise Failure(f"{arguments} ends with {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def imported(self, text, *arguments):
        done = self.run("catalog", "import", "list", *arguments, text=text)
        return json.loads(done.stdout), done.stderr


def prices_of(file, capacity="on-demand"):
    return {p["instanceType"]: p["usdPerHour"] for p in file["prices"]
            if p["capacityType"] == capacity}


def offers_are_read(bench):
    for text in (offer_json(), offer_csv()):
        file, said = bench.imported(text)
        expect("schema", file["schema"], "taffrail.dev/prices/v1")
        expect("region and date", (file["region"], file["date"]), ("eu-west-1", "2026-11-12"))
        expect("prices", prices_of(file), PRICES)
        holds("stderr", said, "3 of 1432 instance types have an on-demand price; 1 type of")
    text = offer_json(("eu-west-1", "us-west-2"))
    holds("stderr", bench.run("catalog", "import", "list", code=2, text=text).stderr,
          "2 regions (eu-west-1, us-west-2); name one with --region")
    file, _ = bench.imported(text, "--region", "us-west-2", "--discount", "10%")
    expect("region", file["region"], "us-west-2")
    expect("a discount", prices_of(file)["m5.large"], 0.0963)
    expect("the discount", file["discount"], "10 %")
    for discount, price in (("12.34", 0.093796), ("99.99%", 0.00001)):
        file, _ = bench.imported(text, "--region", "us-west-2", "--discount", discount)
        expect("the discount", (prices_of(file)["m5.large"], file["discount"]),
               (price, f"{discount.rstrip('%')} %"))


def tables_are_read(bench):
    table = ("instanceType,capacityType,usdPerHour,region,date\r\n"
             "m5.large,on-demand,0.2,eu-west-1,2026-10-01\r\n\r\n"
             "m5.large,on-demand,0.1,eu-west-1,2026-11-01\r\n\"m5.large\",spot,0.04,eu-west-1,\r\n")
    file, _ = bench.imported(table)
    expect("prices", (prices_of(file), prices_of(file, "spot")), ({"m5.large": 0.1}, {"m5.large": 0.04}))
    expect("region and date", (file["region"], file["date"]), ("eu-west-1", "2026-11-01"))
    for plain in ("Instance Type,Price per hour\nm5.large,0.1\n", "m5.large,0.1\n"):
        file, _ = bench.imported(plain, "--region", "eu-west-1", "--date", "2026-11-02")
        expect("prices", prices_of(file), {"m5.large": 0.1})
        expect("date", file["date"], "2026-11-02")
    file, _ = bench.imported("m5.large,0.1,on-demand,eu-west-1,2026-11-20\n")
    expect("region and date", (file["region"], file["date"]), ("eu-west-1", "2026-11-20"))
    for text, part in [
        ("m5.large,0.1\n", "--region"),
        ("instanceType,usdPerHour,date\nm5.large,1,2026-99-99\n", 'list:2: found "2026-99-99"'),
        ("", "is empty"),
        ("a,b\nm5.large,0.1\n", "instanceType and usdPerHour"),
        ("instanceType,usdPerHour\nm5.large,much\n", 'list:2: found "much"'),
        ("instanceType,usdPerHour,capacityType\nm5.large,1,free\n", 'list:2: found "free"'),
        ('{"offers": {"AmazonEC2": {"currentRegionIndexUrl": "/offers/r.json"}}}', "/offers/r.json"),
        ('{"regions": {"eu-west-1": {"currentVersionUrl": "/offers/eu.json"}}}', "/offers/eu.json"),
        ('{"a": 1}', "no offer file"),
        (offer_json()[:-400], "ends in the middle of its terms: fetch it again"),
        (offer_json().replace("Linux", "RHEL"), "has no on-demand price"),
    ]:
        holds("stderr", bench.run("catalog", "import", "list", code=2, text=text).stderr, part)
    holds("stderr", bench.run("catalog", "import", "list", "--region", "mars-1", code=2,
                              text=offer_json()).stderr, "no prices of mars-1, but of eu-west-1")
    holds("stderr", bench.run("catalog", "import", "list", "--discount", "100", code=2).stderr,
          "--discount")
    for date in ("foo", "2026-13", "2026-02-30", "2026-11-20T00:00:00Z", ""):
        holds("stderr", bench.run("catalog", "import", "list", "--date", date, code=2, text=table).stderr,
              "--date is")
    file, said = bench.imported("m5.large,0.1\nm5.largest,0.1\n", "--region", "eu-west-1", "--date", "2026-11")
    expect("a month", file["date"], "2026-11")
    holds("stderr", said, "1 of 1432 instance types has an on-demand price; 1 type of the file is not in")


def outputs_name_the_region(bench):
    (bench.folder / "state").mkdir()
    (bench.folder / "state" / "pool.yaml").write_text(POOL)
    file = bench.run("catalog", "import", "list", text=offer_json()).stdout
    (bench.folder / "prices.json").write_text(file)
    # Of us-east-1, for nodes elsewhere.
    built_in = "on-demand prices of us-east-1 of 2026-07"
    for form in ("text", "html", "svg"):
        page = bench.run("plan", "--state", "state", "-o", form).stdout
        said = " ".join(re.sub(r"<[^>]*>", " ", page).split())
        holds(form, said, built_in)
        holds(form, said, "not of eu-west-1")
    plan = json.loads(bench.run("plan", "--state", "state", "-o", "json").stdout)
    expect("prices", plan["prices"], {"region": "us-east-1", "date": "2026-07", "file": None})
    expect("usdPerHour", plan["usdPerHour"], 0.096)
    # Of one's own.
    own = ("--catalog", "prices.json")
    said = " ".join(bench.run("plan", "--state", "state", *own).stdout.split())
    holds("text", said, "on-demand prices of eu-west-1 of 2026-11-12, prices.json.")
    plan = json.loads(bench.run("plan", "--state", "state", "-o", "json", *own).stdout)
    expect("prices", plan["prices"], {"region": "eu-west-1", "date": "2026-11-12",
                                      "file": "prices.json"})
    expect("usdPerHour", plan["usdPerHour"], 0.107)
    holds("show", bench.run("catalog", "show", "m5.large", *own).stdout,
          "0.1070 USD an hour (on-demand prices of eu-west-1 of 2026-11-12, prices.json)")
    holds("filter", bench.run("catalog", "filter", "family=m5").stderr, f"USD/H: {built_in}")
    shown = json.loads(bench.run("catalog", "show", "m5.large", "c5.large", "-o", "json", *own).stdout)
    expect("prices", shown["prices"]["region"], "eu-west-1")
    expect("prices", [one["usdPerHour"] for one in shown["types"]], [None, 0.107])
    # Spot has a price where the file has one.
    table = "m5.large,0.107\nm5.large,0.03,spot\n"
    (bench.folder / "spot.json").write_text(
        bench.run("catalog", "import", "list", "--region", "eu-west-1", text=table).stdout)
    (bench.folder / "state" / "pool.yaml").write_text(POOL.replace("[on-demand]", "[on-demand, spot]"))
    plan = json.loads(bench.run("plan", "--state", "state", "-o", "json", "--catalog",
                                "spot.json").stdout)
    expect("the claim", (plan["claims"][0]["capacityType"], plan["usdPerHour"]), ("spot", 0.03))
    for text, part in [('{"prices": []}', "wants schema and prices"),
                       (file.replace("0.107000", '"0.1"'), "wants usdPerHour"),
                       (file.replace("on-demand", "reserved", 1), "on-demand or spot")]:
        (bench.folder / "bad.json").write_text(text)
        holds("stderr", bench.run("catalog", "show", "m5.large", "--catalog", "bad.json",
                                  code=2).stderr, part)


TESTS = [offers_are_read, tables_are_read, outputs_name_the_region]


def main(taffrail):
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                test(Bench(taffrail, scratch))
            except (Failure, ValueError, KeyError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED  {test.__name__}: {failure}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
