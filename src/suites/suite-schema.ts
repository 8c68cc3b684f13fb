import { z } from "zod";
import { Suite } from "./suite.ts";

/** The JSON Schema of `.grange/bench/*.yml`, with which editors complete and check. */
export function suiteSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(Suite, {
    io: "input",
    // Checks that are code have no words in JSON Schema; `grange bench suite check` makes them.
    unrepresentable: "any",
    reused: "inline",
  });
  return {
    ...(JSON.parse(JSON.stringify(schema)) as Record<string, unknown>),
    $id: "https://grange.invalid/schema/benchmark-suite.json",
    title: "A benchmark suite of Grange: .grange/bench/*.yml",
  };
}
