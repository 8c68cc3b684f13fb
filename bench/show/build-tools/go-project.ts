import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { goEnvironment } from "../../../test/build-tools/caches/go.ts";
import { goNeed } from "../../../test/support/needs/go-need.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { type GranaryLab, startGranaryLab } from "../granary/granary-lab.ts";
import { medianWallMs, type Timed, timed, wallTimes } from "../granary/timed.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, atMost, exactly, forInformation, type Measurement, type Row } from "../row.ts";

const packages = 200;
const rounds = 3;
const name = `Go: project of ${packages} packages, build and tests`;
const command = ["sh", "-c", "go build -trimpath -v ./... && go test -trimpath ./..."];

/** Build and tests of a generated project on a machine that has nothing, with the farm's results of another machine. */
export const goProject: Measurement = {
  title: "Go: a project on a second machine",
  long: true,
  async measure() {
    requireNeeds([goNeed]);
    const lab = await startGranaryLab({ roundTripMs: 20 });
    try {
      return await rowsOf(lab);
    } finally {
      await lab.stop();
    }
  },
};

async function rowsOf(lab: GranaryLab): Promise<Row[]> {
  const repository = await sampleRepository(filesOf(packages));
  try {
    const cwd = repository.path;
    const environment = goEnvironment(lab.work);
    const own = join(lab.work, "own-cache");
    const withOwn = { cwd, env: { ...environment, GOCACHE: own } };
    const machine = async () => {
      const granary = await lab.startGranary();
      const env = { ...environment, GRANGE_GO_DATA: `${granary.data}-go` };
      const run = await granary.exec(command, { cwd, env, more: ["--project", "go"] });
      await granary.drained();
      await granary.stop();
      return checked(run);
    };

    const without: Timed[] = [];
    const local: Timed[] = [];
    const second: Timed[] = [];
    // By turns, so that the load of the machine is the same for all.
    for (let round = 0; round < rounds; round++) {
      await rm(own, { recursive: true, force: true });
      await mkdir(own);
      without.push(checked(await timed(command, withOwn)));
      local.push(checked(await timed(command, withOwn)));
      if (round === 0) await machine();
      second.push(await machine());
    }
    const [withoutMs, localMs, secondMs] = [
      medianWallMs(without),
      medianWallMs(local),
      medianWallMs(second),
    ];
    const how = `median of ${rounds}, by turns; standard library and ${packages} packages with a test each; 20 ms to the farm; without: ${wallTimes(without)}; own cache full: ${wallTimes(local)}; second machine: ${wallTimes(second)}`;
    const last = second.at(-1)?.text ?? "";
    return [
      atLeast(
        `${name}: time saved on a second machine`,
        100 * (1 - secondMs / withoutMs),
        90,
        "%",
        how,
      ),
      atMost(
        `${name}: second machine beside Go's own full cache`,
        secondMs / localMs,
        1.1,
        "×",
        how,
      ),
      forInformation(`${name}: second machine`, secondMs / 1_000, "s", how),
      exactly(`${name}: packages compiled on a second machine`, compiled(last), 0, "", how),
      exactly(`${name}: tests from the cache`, cachedTests(last), packages, "", how),
    ];
  } finally {
    await repository.remove();
  }
}

function checked(run: Timed): Timed {
  if (run.code !== 0)
    throw new Error(`the build ended with ${run.code}: ${run.text.slice(-4_000)}`);
  return run;
}

/** Go prints the packages that it compiles, one a line. */
function compiled(text: string): number {
  return text.match(/^example\.com\/\S+$/gm)?.length ?? 0;
}

function cachedTests(text: string): number {
  return text.match(/^ok\s.*\(cached\)$/gm)?.length ?? 0;
}

/** Packages in layers: each imports some of those before, has some code, and a test. */
function filesOf(count: number): Record<string, string> {
  const files: Record<string, string> = { "go.mod": "module example.com/project\n\ngo 1.24\n" };
  for (let n = 0; n < count; n++) {
    const imported = [n - 1, n - 7, n - 31].filter((m) => m >= 0 && m % 10 !== 9);
    const functions = Array.from(
      { length: 30 },
      (_, f) => `
// F${f} sums what its parts return.
func F${f}(values map[string]int) (string, error) {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	total := ${n * 30 + f}
	for _, key := range keys {
		total += values[key]
	}
	if total < 0 {
		return "", errors.New(strings.Join(keys, ","))
	}
	return fmt.Sprintf("%d %s", total, strings.ToUpper(strings.Join(keys, " "))), nil
}
`,
    );
    const lines = imported.map((m) => `\t"example.com/project/p${m}"`).join("\n");
    const uses = imported.map((m) => `\ttotal += p${m}.Total()\n`).join("");
    files[`p${n}/p${n}.go`] =
      `package p${n}\n\nimport (\n\t"errors"\n\t"fmt"\n\t"sort"\n\t"strings"\n\n${lines}\n)\n\n// Total adds the packages below.\nfunc Total() int {\n\ttotal := 1\n${uses}\treturn total\n}\n${functions.join("")}`;
    files[`p${n}/p${n}_test.go`] =
      `package p${n}\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) {\n\tif Total() < 1 {\n\t\tt.Fatal("nothing")\n\t}\n\tif text, err := F0(map[string]int{"a": 1}); err != nil || text == "" {\n\t\tt.Fatal(text, err)\n\t}\n}\n`;
  }
  return files;
}
