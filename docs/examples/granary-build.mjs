#!/usr/bin/env node
// A build system of a few lines that speaks the granary's own protocol (docs/granary.md). Usage: granary-build.mjs RULES.json
// RULES.json: {"NAME": {"inputs": ["file"], "deps": ["NAME"], "ms": 20}, …}; each rule makes out/NAME of its inputs and of out/DEP.
// A rule with "weak": "HASH" has an approximation that tells little, as a real one may.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const settings = {
  project: process.env.GRANARY_PROJECT ?? "scripted",
  // What the granary is told: keys as soon as they are known, and hashes that are known before the keys are.
  hints: process.env.GRANARY_HINTS !== "0",
  approximations: process.env.GRANARY_APPROXIMATIONS === "1",
  prefetch: process.env.GRANARY_PREFETCH !== "0",
};
const workers = 4;
const rules = JSON.parse(readFileSync(process.argv[2], "utf8"));
const sha256 = (...parts) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");
const sourcesOf = (name) => rules[name].inputs.map((file) => [file, readFileSync(file, "utf8")]);

// The key needs what the deps came out as; the approximation only all sources below, so it is known at once.
const key = (name, digests) => sha256(name, sourcesOf(name), rules[name].deps.map((dep) => digests.get(dep)));
const approximations = new Map();
function approximation(name) {
  if (rules[name].weak) return rules[name].weak;
  if (!approximations.has(name)) {
    approximations.set(name, sha256(name, sourcesOf(name), rules[name].deps.map(approximation)));
  }
  return approximations.get(name);
}

// One JSON object a line. Without a granary, or when it goes away, each answer is `undefined` and everything is made.
const waiting = new Map();
let asked = 0;
const data = process.env.GRANGE_GRANARY_DATA ?? join(homedir(), ".cache", "grange", "granary");
const endpoint = join(data, "endpoint");
const socket = connect(existsSync(endpoint) ? JSON.parse(readFileSync(endpoint, "utf8")).socket : endpoint);
const gone = new Promise((done) => socket.on("error", done).on("close", done)).then(() => {
  for (const answer of waiting.values()) answer(undefined);
});
createInterface({ input: socket }).on("error", () => {}).on("line", (line) => {
  const answer = JSON.parse(line);
  waiting.get(answer.to)?.(answer);
  waiting.delete(answer.to);
});
const say = (message) => socket.writable && socket.write(`${JSON.stringify(message)}\n`);
const ask = (message) => {
  const id = ++asked;
  if (!say({ ...message, id }) && !socket.writable) return undefined;
  return Promise.race([gone, new Promise((answer) => waiting.set(id, answer))]);
};

const digests = new Map();
const counts = { made: 0, hits: 0, atOnce: 0 };
mkdirSync("out", { recursive: true });

async function build(name) {
  const file = resolve("out", name);
  const exact = settings.approximations && (await ask({ type: "look-up", approx: approximation(name) }));
  const isExact = exact?.type === "found";
  const found = isExact ? exact : await ask({ type: "look-up", key: key(name, digests) });
  if (found?.type === "found") {
    for (const output of found.outputs) copyFileSync(output.file, join("out", output.path));
    counts.hits += 1;
    if (isExact) counts.atOnce += 1;
  } else {
    const below = rules[name].deps.map((dep) => readFileSync(join("out", dep), "utf8"));
    await new Promise((done) => setTimeout(done, rules[name].ms));
    writeFileSync(file, `${name} ${sha256(sourcesOf(name), below)}\n`.repeat(200));
    counts.made += 1;
    const made = { key: key(name, digests), costMs: rules[name].ms, inputs: rules[name].inputs };
    await ask({ type: "result", ...made, outputs: [{ path: name, file }] });
    if (settings.approximations) {
      say({ type: "approximation", approx: approximation(name), key: made.key, exact: !rules[name].weak });
    }
  }
  digests.set(name, sha256(readFileSync(file, "utf8")));
}

await ask({ type: "hello", versions: [1] });
const started = await ask({
  type: "build-started",
  directory: process.cwd(),
  project: settings.project,
  command: "granary-build",
  prefetch: settings.prefetch,
});
if (started?.type !== "build") socket.destroy();
const begun = performance.now();
const todo = new Set(Object.keys(rules));
const hinted = new Set();
const isReady = (name) => rules[name].deps.every((dep) => digests.has(dep));
function hint() {
  const known = [...todo].filter((name) => !hinted.has(name) && isReady(name));
  for (const name of known) hinted.add(name);
  if (known.length > 0) say({ type: "hint", keys: known.map((name) => key(name, digests)) });
}
const underWay = new Set();
while (todo.size + underWay.size > 0) {
  if (settings.hints) hint();
  for (const name of [...todo].filter(isReady).slice(0, workers - underWay.size)) {
    todo.delete(name);
    const work = build(name).finally(() => underWay.delete(work));
    underWay.add(work);
  }
  await Promise.race(underWay);
}
const wallMs = Math.round(performance.now() - begun);
const ended = await ask({ type: "build-ended", exitCode: 0, complete: true });
console.log(JSON.stringify({ ...counts, wallMs, report: ended?.report ?? null }));
socket.destroy();
