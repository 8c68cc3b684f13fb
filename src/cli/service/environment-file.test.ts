import { expect, test } from "vitest";
import {
  environmentText,
  mergedEnvironmentText,
  settingsOf,
  withoutSecrets,
} from "./environment-file.ts";

test("values with spaces and signs are quoted", () => {
  expect(environmentText({ A: "plain", B: 'two "words"' })).toBe(
    '# Settings of this service; restart it after a change.\nA=plain\nB="two \\"words\\""\n',
  );
});

test("a second installation replaces what it sets, and keeps the rest", () => {
  const existing = "# mine\nGRANGE_STORE_LIMIT=20G\nGRANGE_SERVER=http://old:1\n";

  expect(mergedEnvironmentText(existing, { GRANGE_SERVER: "http://new:1" })).toBe(
    "# mine\nGRANGE_STORE_LIMIT=20G\nGRANGE_SERVER=http://new:1\n",
  );
});

test.each(["lower=1", "NO_VALUE", "A=one\ntwo"])("%j is no setting", (word) => {
  expect(() => settingsOf([word])).toThrow("--env takes NAME=VALUE");
});

test("a terminal never shows tokens", () => {
  expect(
    withoutSecrets({
      GRANGE_TOKEN: "grange_1",
      GRANGE_DATABASE_URL: "postgres://a:b@c/d",
      GRANGE_SERVER: "http://farm:8980",
    }),
  ).toEqual({
    GRANGE_TOKEN: "…",
    GRANGE_DATABASE_URL: "…",
    GRANGE_SERVER: "http://farm:8980",
  });
});
