import { expect, test } from "vitest";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { openApiDocument } from "./openapi-document.ts";

const endpoints = { ...signInEndpoints, ...allEndpoints };
const document = openApiDocument(endpoints, "1.2.3");
const text = JSON.stringify(document);

/** Returns the value that a JSON pointer names within the document. */
function at(pointer: string): unknown {
  return pointer
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (value, key) => (value as Record<string, unknown> | undefined)?.[key],
      document,
    );
}

test("every reference names something in the document", () => {
  const references = new Set(
    Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, ref = ""]) => ref),
  );

  expect(references.size).toBeGreaterThan(100);
  expect([...references].filter((ref) => at(ref) === undefined)).toEqual([]);
});

test("every shape has a name", () => {
  const { schemas } = document["components"] as { schemas: object };

  expect(Object.keys(schemas).filter((name) => name.startsWith("Unnamed"))).toEqual([]);
});

test("every endpoint is an operation that states its right", () => {
  const operations = Object.values(document["paths"] as Record<string, object>).flatMap(
    (path) => Object.values(path) as { operationId: string; "x-grange-right": string }[],
  );

  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(endpoints).toSorted(),
  );
  expect(operations.filter((each) => each["x-grange-right"] === "")).toEqual([]);
});
