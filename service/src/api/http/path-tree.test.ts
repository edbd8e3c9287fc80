import { expect, test } from "vitest";
import { PathTree } from "./path-tree.ts";

function treeOf(...paths: [string, string][]): PathTree<string> {
  const tree = new PathTree<string>();
  for (const [method, path] of paths) tree.add(method, path, `${method} ${path}`);
  return tree;
}

const tree = treeOf(
  ["GET", "/cases/{id}"],
  ["POST", "/cases/close"],
  ["GET", "/{slug}/close"],
  ["GET", "/cases/{id}/notes"],
  ["GET", "/"],
);

test("a literal segment takes precedence over a parameter", () => {
  expect(treeOf(["GET", "/cases/{id}"], ["GET", "/cases/close"]).find("GET", ["cases", "close"])?.value).toBe("GET /cases/close");
});

test("a parameter is found if the literal segment has no such method", () => {
  expect(tree.find("GET", ["cases", "close"])).toEqual({ value: "GET /cases/{id}", params: { id: "close" } });
});

test("a parameter is found if the path below the literal segment ends", () => {
  expect(tree.find("GET", ["other", "close"])).toEqual({ value: "GET /{slug}/close", params: { slug: "other" } });
});

test("parameters are returned as sent", () => {
  expect(tree.find("GET", ["cases", "a%2Fb", "notes"])?.params).toEqual({ id: "a%2Fb" });
});

test.each(["", ".", "..", "%2e%2E", "a\\b"])("the segment %j is no parameter", (text) => {
  expect(tree.find("GET", ["cases", text])).toBeNull();
  expect(tree.methodsAt(["cases", text])).toEqual([]);
});

test("names of an object's own members are ordinary segments", () => {
  expect(tree.find("GET", ["__proto__", "constructor"])).toBeNull();
  expect(tree.find("GET", ["cases", "__proto__"])?.params["id"]).toBe("__proto__");
});

test("the methods of all paths that fit are listed", () => {
  expect(tree.methodsAt(["cases", "close"])).toEqual(["GET", "POST"]);
  expect(tree.methodsAt(["cases"])).toEqual([]);
  expect(tree.methodsAt([])).toEqual([]);
});

test("a path that is longer than any other is not found", () => {
  expect(
    tree.find(
      "GET",
      Array.from({ length: 10_000 }, () => "cases"),
    ),
  ).toBeNull();
});
