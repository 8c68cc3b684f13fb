/** Prints the output of `npm run show -- field --json`, read from standard input, as the table of the documents. */
import { text } from "node:stream/consumers";
import { FieldResult, fieldTable } from "./field-table.ts";

const result = FieldResult.parse(JSON.parse(await text(process.stdin)));
process.stdout.write(
  `Commit ${result.commit.slice(0, 8)}; ${result.machine}.\n\n${fieldTable(result)}\n`,
);
