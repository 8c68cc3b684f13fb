import { fromBinary } from "@bufbuild/protobuf";
import type { Where } from "#access/principal.ts";
import { catchUp } from "#access/provenance/catch-up.ts";
import { sealEnvelope } from "#access/provenance/envelope.ts";
import { type AttestedRun, statementOf } from "#access/provenance/statement.ts";
import { runsThatMade } from "#access/provenance/subject.store.ts";
import { textOfPublicKey } from "#access/public-key.ts";
import { resultsOfActions } from "#actions/many-results.store.ts";
import type { Provenance } from "#api/provenance.ts";
import { parseDigestKey } from "#core/digest.ts";
import { protectedDomain } from "#core/trust-domain.ts";
import { type AttestedRunRow, attestedRun, attestedSince } from "#graphs/attested-runs.store.ts";
import {
  type Action,
  ActionResultSchema,
  ActionSchema,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Services } from "./services.ts";
import { version } from "./version.ts";

/** Many runs may make the same blob, such as an empty file; the latest runs suffice. */
const mostRuns = 5;

/**
 * Returns the farm's statement about an output, named by `<hash>` or `<hash>/<size>`. The statement is made at the
 * request, from the farm's own records of its runs at the places that the caller may read. Undefined when no trusted run
 * there has made the output.
 */
export function provenanceOf({
  db,
  blobsOf,
  farmKey,
  treesOf,
}: Pick<Services, "db" | "blobsOf" | "farmKey" | "treesOf">): (
  digest: string,
  mayRead: (place: Where) => boolean,
) => Promise<Provenance | undefined> {
  const actionOf = async ({ project, actionDigest }: AttestedRunRow) => {
    const bytes = await blobsOf(project).get(parseDigestKey(actionDigest));
    return bytes === undefined ? undefined : fromBinary(ActionSchema, bytes);
  };
  /** Whether the farm signed the result in the row of the run. If not, the row may have been changed. */
  const isSealed = async ({
    project,
    actionDigest,
    executionId,
    attempt,
    result,
  }: AttestedRunRow) => {
    const action = parseDigestKey(actionDigest);
    const found = await resultsOfActions(db, project, [protectedDomain], [action]);
    return (await treesOf(project).seals.thatHold(found)).some(
      ({ origin, result: sealed }) =>
        origin.kind === "execution" &&
        origin.executionId === executionId &&
        origin.attempt === attempt &&
        Buffer.from(sealed).equals(result),
    );
  };
  // Simultaneous requests share one read.
  let catchingUp: Promise<void> | undefined;

  return async (digest, mayRead) => {
    catchingUp ??= catchUp(db, (since, most) => attestedSince(db, since, most)).finally(() => {
      catchingUp = undefined;
    });
    await catchingUp;
    const hash = digest.split("/")[0] ?? "";
    const made = await db.transaction(async (tx) => {
      const named = await runsThatMade(tx, hash, mostRuns);
      return Promise.all(named.map(async (at) => ({ at, row: await attestedRun(tx, at) })));
    });
    const envelopes = [];
    for (const { at, row } of made) {
      if (row === undefined || !mayRead(row.graph) || !(await isSealed(row))) continue;
      const action = await actionOf(row);
      const run = attested(at, row, action, farmKey.id);
      const isThere = run.outputs.some(
        ({ digest: one }) => one === digest || one.startsWith(`${digest}/`),
      );
      if (isThere) envelopes.push(sealEnvelope(farmKey, statementOf(run)));
    }
    if (envelopes.length === 0) return undefined;
    const key = { id: farmKey.id, publicKey: textOfPublicKey(farmKey.publicKey) };
    return { digest, key, envelopes };
  };
}

function attested(
  at: { readonly job: string; readonly run: number },
  { result, startedAt, finishedAt, ...row }: AttestedRunRow,
  action: Action | undefined,
  keyId: string,
): AttestedRun {
  const { outputFiles, outputDirectories, stdoutDigest } = fromBinary(ActionResultSchema, result);
  const properties = action?.platform?.properties ?? [];
  return {
    ...at,
    ...row,
    graph: { ...row.graph, url: withoutLogin(row.graph.url) },
    farm: { keyId, version },
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt.toISOString(),
    platform: Object.fromEntries(properties.map(({ name, value }) => [name, value])),
    inputRoot: textOf(action?.inputRootDigest),
    log: textOf(stdoutDigest),
    outputs: [
      ...outputFiles.map(({ path, digest }) => ({ path, kind: "file" as const, digest })),
      ...outputDirectories.map(({ path, treeDigest }) => ({
        path,
        kind: "directory" as const,
        digest: treeDigest,
      })),
    ].flatMap(({ digest, ...output }) => {
      const text = textOf(digest);
      return text === null ? [] : [{ ...output, digest: text }];
    }),
  };
}

function textOf(digest: DigestMessage | undefined): string | null {
  return digest === undefined ? null : `${digest.hash}/${digest.sizeBytes}`;
}

/** An address may contain a password, which is not shown. */
function withoutLogin(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href;
}
