import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readTrace } from "./read-trace.ts";
import { aHeader, anExecution, traces } from "./trace.fixture.ts";
import { standardTraces } from "./traces/standard-traces.ts";
import { traceLines } from "./write-trace.ts";

async function* bytesOf(text: string, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

const header = JSON.stringify(aHeader());
const execution = (changes: object) => JSON.stringify({ ...anExecution(), ...changes });

describe("a trace", () => {
  test("is read as it was written, for any division of its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(traces, fc.integer({ min: 1, max: 300 }), async (trace, size) => {
        const text = [...traceLines(trace)].join("");
        expect(await readTrace(bytesOf(text, size))).toEqual(trace);
      }),
      { numRuns: 50 },
    );
  });

  test.each(Object.entries(standardTraces))("%s has the format", async (_name, make) => {
    const trace = make(1);
    expect(trace.executions.length).toBeGreaterThan(3_000);
    expect(await readTrace(bytesOf([...traceLines(trace)].join(""), 65_536))).toEqual(trace);
    expect(make(1)).toEqual(trace);
    expect(make(2)).not.toEqual(trace);
  });

  test("matches the example of the documentation", async () => {
    const page = await readFile(
      new URL("../../docs/size-class-traces.md", import.meta.url),
      "utf8",
    );
    const example = /```json\n(.*?)```/s.exec(page)?.[1] ?? "";

    const { header, executions } = await readTrace(bytesOf(example));

    expect(header.classes).toHaveLength(2);
    expect(executions).toHaveLength(2);
  });

  test("may have its executions in any order, and no newline at its end", async () => {
    const text = [header, execution({ at: 20 }), "", execution({ at: 10 })].join("\n");

    const { executions } = await readTrace(bytesOf(text));

    expect(executions.map(({ at }) => at)).toEqual([10, 20]);
  });
});

describe("a hostile trace", () => {
  test.each([
    ["", "line 1 is missing"],
    ["{", "line 1: is not JSON"],
    [`${header}\n`, "no executions"],
    [`${header}\n{"at":NaN}`, "line 2: is not JSON"],
    [`${header}\n[1]`, "line 2: Invalid input: expected object"],
    [`${header}\n${execution({ at: undefined })}`, "line 2, field at: "],
    [`${header}\n${execution({}).replace('"at":0', '"at":1e999')}`, "line 2, field at: "],
    [`${header}\n${execution({})}\n${execution({ at: 1e300 })}`, "line 3, field at: "],
    [`${header}\n${execution({ at: -1 })}`, "line 2, field at: "],
    [`${header}\n${execution({ serialMs: "9" })}`, "line 2, field serialMs: "],
    [`${header}\n${execution({ width: 0 })}`, "line 2, field width: "],
    [`${header}\n${execution({ timeoutMs: 0 })}`, "line 2, field timeoutMs: "],
    [`${header}\n${execution({ flakyRate: 2 })}`, "line 2, field flakyRate: "],
    [`${header}\n${execution({ keys: {} })}`, "line 2, field keys.action: "],
    [`${header}\n${execution({ wdith: 2 })}`, 'line 2: Unrecognized key: "wdith"'],
    [header.replace(/\/1"/, '/2"'), "line 1, field format: "],
    [header.replace('"workers":1000', '"workers":1e9'), "line 1, field classes.0.pool.workers: "],
    [header.replace('"sizeClass":2', '"sizeClass":1'), "line 1, field classes: must rise"],
    [header.replace('"price":1', '"price":null'), "line 1, field classes.0.price: "],
    [`${header}\n${"[".repeat(100_000)}`, "line 2: is not JSON"],
  ])("%.60s is refused by its line and field", async (text, said) => {
    await expect(readTrace(bytesOf(text, 65_536))).rejects.toThrow(said);
  });

  test("with an endless line is rejected before the line is in memory", async () => {
    let sent = 0;
    async function* endless() {
      for (; sent < 1e9; sent += 65_536) yield new Uint8Array(65_536).fill(0x20);
    }

    await expect(readTrace(endless())).rejects.toThrow("line 1 is longer than 1048576 bytes");
    expect(sent).toBeLessThan(2e6);
  });

  test("that is not text is rejected", async () => {
    async function* noText() {
      yield Uint8Array.of(0xff, 0xfe, 0x0a);
    }

    await expect(readTrace(noText())).rejects.toThrow("line 1 is not UTF-8 text");
  });

  test("cannot send control sequences to the terminal through an error message", async () => {
    const text = `${header}\n{"\\u001b[2J${"x".repeat(9_000)}":1}`;

    const reason: unknown = await readTrace(bytesOf(text, 999)).catch((each: unknown) => each);

    expect(String(reason)).not.toContain("\u001b");
    expect(String(reason).length).toBeLessThan(400);
  });
});
