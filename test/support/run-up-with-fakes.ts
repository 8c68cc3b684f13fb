// `grange up` whose children are `fake-grange.mjs`. Arguments: UpOptions, and the environment of
// the fakes, both as JSON.
import { fileURLToPath } from "node:url";
import { inSession } from "#cli/session.ts";
import { runUp, type UpOptions } from "#cli/up/run-up.ts";

const entry = fileURLToPath(new URL("./fake-grange.mjs", import.meta.url));
const options = JSON.parse(process.argv[2] ?? "{}") as UpOptions;
Object.assign(process.env, JSON.parse(process.argv[3] ?? "{}"));
await inSession(options, (session) => runUp(options, session, { entry, version: "0" }));
