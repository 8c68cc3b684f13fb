import { spawn, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Fault } from "#core/fault.ts";
import { answerOf, differenceOf, type OracleCase } from "#statistics/oracle-cases.fixture.ts";
import { fewQuestions, manyQuestions, oracleQuestions } from "./oracle-questions.ts";

/** The results of one function. */
interface OracleAgreement {
  readonly name: OracleCase["f"];
  readonly cases: number;
  readonly largestDifference: number;
}

/** Returns a Python with SciPy: `GRANGE_TEST_PYTHON`, or `python3`; undefined when neither has it. */
export function findOracle(): string | undefined {
  const candidates = [process.env["GRANGE_TEST_PYTHON"], "python3"].filter(
    (each) => each !== undefined,
  );
  return candidates.find(
    (python) => spawnSync(python, ["-c", "import scipy.stats"], { stdio: "ignore" }).status === 0,
  );
}

/** Compares SciPy's results with Grange's; the goal is 1e-9. */
export async function compareWithOracle(
  python: string,
  questions: readonly OracleCase[] = oracleQuestions(manyQuestions, 1),
): Promise<OracleAgreement[]> {
  const theirs = await askOracle(python, questions);
  const found = new Map<OracleCase["f"], { cases: number; largestDifference: number }>();
  questions.forEach((question, i) => {
    const known = found.get(question.f) ?? { cases: 0, largestDifference: 0 };
    const difference = differenceOf(answerOf(question), theirs[i] ?? []);
    found.set(question.f, {
      cases: known.cases + 1,
      largestDifference: Math.max(known.largestDifference, difference),
    });
  });
  return [...found].map(([name, agreement]) => ({ name, ...agreement }));
}

/** Writes the few cases that unit tests always check, with SciPy's answers, one per line. */
export async function writeOracleVectors(python: string): Promise<void> {
  const questions = oracleQuestions(fewQuestions, 2);
  const answers = await askOracle(python, questions);
  const lines = questions.map((question, i) => JSON.stringify({ question, answer: answers[i] }));
  const file = new URL("../../../../src/statistics/oracle-vectors.fixture", import.meta.url);
  await writeFile(file, `${lines.join("\n")}\n`);
}

function askOracle(python: string, questions: readonly OracleCase[]): Promise<number[][]> {
  const program = fileURLToPath(new URL("oracle.py", import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(python, [program], { stdio: ["pipe", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    // If the process ends early, the exit code shows it; the pipe's own error would hide it.
    child.stdin.on("error", () => {});
    child.on("close", (code) => {
      if (code === 0)
        resolve(
          output
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line) as number[]),
        );
      else
        reject(new Fault("internal", `the oracle ended with ${code}; its complaint stands above`));
    });
    child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(""));
  });
}
