/** Everything that the farm has recorded about a run that made an artifact. */
export interface AttestedRun {
  readonly farm: { readonly keyId: string; readonly version: string };
  readonly graph: {
    readonly id: string;
    readonly repository: string;
    readonly url: string;
    readonly commit: string;
    readonly branch: string;
    readonly parameters: unknown;
    readonly switches: unknown;
    readonly catalog: string;
    readonly submittedBy: string;
  };
  readonly job: string;
  readonly run: number;
  readonly attempt: number;
  readonly worker: string | null;
  readonly actionDigest: string;
  readonly inputRoot: string | null;
  readonly platform: Readonly<Record<string, string>>;
  readonly startedAt: string | null;
  readonly finishedAt: string;
  readonly outputs: readonly {
    readonly path: string;
    readonly kind: "file" | "directory";
    readonly digest: string;
  }[];
  readonly log: string | null;
}

const statementType = "https://in-toto.io/Statement/v1";
const predicateType = "https://slsa.dev/provenance/v1";
/** Defines the meaning of the fields below; described in docs/provenance.md. */
const buildType = "https://grange.invalid/provenance/job/v1";

/**
 * Returns the in-toto statement of a run, with SLSA's provenance as its predicate.
 *
 * `externalParameters` contains everything that a user could set; the derived values are in `internalParameters`.
 * Secrets appear by name and version, as part of the platform.
 */
export function statementOf(run: AttestedRun) {
  const { graph, farm } = run;
  const { repository, url, commit, branch, parameters, switches } = graph;
  return {
    _type: statementType,
    subject: run.outputs.map(({ path, kind, digest }) => ({
      name: path,
      digest: kind === "file" ? { sha256: hashOf(digest) } : { rev2TreeSha256: hashOf(digest) },
    })),
    predicateType,
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: {
          repository,
          source: url,
          commit,
          branch,
          job: run.job,
          parameters,
          switches,
          network: run.platform["network"] === "on",
        },
        internalParameters: {
          catalog: graph.catalog,
          action: run.actionDigest,
          platform: run.platform,
          submittedBy: graph.submittedBy,
        },
        resolvedDependencies: [
          {
            uri: `git+${url}${branch === "" ? "" : `@refs/heads/${branch}`}`,
            digest: { gitCommit: commit },
          },
          ...(run.inputRoot === null
            ? []
            : [{ name: "inputs", digest: { rev2DirectorySha256: hashOf(run.inputRoot) } }]),
        ],
      },
      runDetails: {
        builder: {
          id: `https://grange.invalid/farm/${farm.keyId}`,
          version: { grange: farm.version },
        },
        metadata: {
          invocationId: `${graph.id}/${run.job}/${run.run}`,
          ...(run.startedAt === null ? {} : { startedOn: run.startedAt }),
          finishedOn: run.finishedAt,
        },
        byproducts: [
          { name: "attempt", annotations: { attempt: run.attempt, worker: run.worker ?? "" } },
          ...(run.log === null ? [] : [{ name: "log", digest: { sha256: hashOf(run.log) } }]),
        ],
      },
    },
  };
}

/** A digest is written `<hash>/<size>`. */
function hashOf(digest: string): string {
  return digest.split("/")[0] ?? "";
}
