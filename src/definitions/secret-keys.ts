import { jobTokenName } from "#core/job-rights.ts";
import { secretsProperty } from "#core/platform.ts";
import { mostSecretsOfAJob, SecretName } from "#core/secret-reference.ts";
import { oneOrMany } from "./one-or-many.ts";

export const SecretNames = oneOrMany(SecretName, "a secret's name")
  .refine((names) => names.length <= mostSecretsOfAJob, `name at most ${mostSecretsOfAJob} secrets`)
  .refine(
    (names) => !names.includes(jobTokenName),
    `${jobTokenName} is reserved for the farm: choose another name`,
  )
  .describe(
    "Secrets of the job, as files in the directory $GRANGE_SECRETS. The job gets them only on the branches for which they are set, and never in a pull request.",
  );

interface JobWithSecrets {
  readonly secrets?: readonly string[] | undefined;
  readonly platform?: Readonly<Record<string, string>> | undefined;
  readonly chunks?: unknown;
  readonly outside?: boolean | undefined;
}

interface SecretProblem {
  readonly path: readonly string[];
  readonly message: string;
}

export function problemsOfSecrets(job: JobWithSecrets): SecretProblem[] {
  const { secrets = [], platform = {}, chunks, outside } = job;
  const found: SecretProblem[] = [];
  const say = (path: readonly string[], message: string) => found.push({ path, message });
  if (Object.hasOwn(platform, secretsProperty)) {
    say(
      ["platform", secretsProperty],
      'only the farm sets this property: name secrets under "secrets"',
    );
  }
  if (secrets.length === 0) return found;
  if (new Set(secrets).size < secrets.length) say(["secrets"], "names a secret twice");
  if (chunks !== undefined) {
    say(["secrets"], "a job with chunks gets no secrets: use them in a separate job");
  }
  if (outside === true) say(["secrets"], "a job that another machine runs is given no secrets");
  return found;
}
