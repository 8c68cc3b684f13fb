import { expect, test } from "vitest";
import { holdsToken } from "./token-in-address.ts";

const ours = `grange_${"a".repeat(43)}`;

test.each([
  `/api/v1/graphs?access_token=x`,
  `/?ACCESS_TOKEN=x`,
  `/graphs/${ours}`,
  `/?q=${ours.replace("_", "%5f")}`,
  `/?q=eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.AAAA`,
  `/x;id_token=y`,
])("%s holds a secret", (address) => {
  expect(holdsToken(`http://127.0.0.1:8980${address}`)).toBe(true);
});

test.each([
  "/graphs/latest?job=unit%2Fcore",
  "/auth/callback?code=abc&state=def&iss=https%3A%2F%2Fp.example",
  "/repositories/grange_is_a_name",
  "/cache/team/ccache/eyJub3Q/a/token",
  "/?text=access_token",
  "/%zz",
])("%s holds none", (address) => {
  expect(holdsToken(`http://127.0.0.1:8980${address}`)).toBe(false);
});
