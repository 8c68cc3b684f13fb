import { ArtifactTag, mostRuns, type SubmitBenchmarkRequest } from "#api/benchmark-request.ts";

/** The present content of the form. */
export interface AskForm {
  readonly suite: string;
  readonly artifact: string;
  readonly parent: string;
  readonly paired: "" | "yes" | "no";
  /** Empty: the suite's number of runs. */
  readonly runs: string;
  readonly backends: readonly string[];
  readonly profiles: readonly string[];
  readonly targets: readonly string[];
  readonly benchmarks: readonly string[];
  readonly waits: boolean;
}

export const emptyForm: AskForm = {
  suite: "",
  artifact: "",
  parent: "",
  paired: "",
  runs: "",
  backends: [],
  profiles: [],
  targets: [],
  benchmarks: [],
  waits: false,
};

/** Returns the request of the form; undefined while it names no possible artifact. */
export function requestedRequest(form: AskForm): SubmitBenchmarkRequest | undefined {
  const artifact = ArtifactTag.safeParse(form.artifact.trim());
  const parent = form.parent.trim();
  if (!artifact.success || form.suite === "") return undefined;
  if (parent !== "" && !ArtifactTag.safeParse(parent).success) return undefined;
  const runs = form.runs === "" ? undefined : Number(form.runs);
  if (runs !== undefined && !(Number.isInteger(runs) && runs >= 1 && runs <= mostRuns)) {
    return undefined;
  }
  return {
    suite: form.suite,
    artifact: artifact.data,
    backends: [...form.backends],
    profiles: [...form.profiles],
    targets: [...form.targets],
    benchmarks: [...form.benchmarks],
    ...(parent === "" ? {} : { parent }),
    ...(form.paired === "" ? {} : { paired: form.paired === "yes" }),
    ...(runs === undefined ? {} : { runs }),
    ...(form.waits ? { waitForArtifacts: true } : {}),
  };
}
