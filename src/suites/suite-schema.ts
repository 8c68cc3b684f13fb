import { z } from "zod";
import { Suite } from "./suite.ts";

/** Returns the JSON Schema of `.grange/bench/*.yml`, which editors use for completion and checks. */
export function suiteSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(Suite, {
    io: "input",
    // JSON Schema cannot express checks that are code; `grange bench suite check` runs them.
    unrepresentable: "any",
    reused: "inline",
  });
  return {
    ...(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>),
    $id: "https://grange.invalid/schema/benchmark-suite.json",
    title: "A benchmark suite of Grange: .grange/bench/*.yml",
  };
}
