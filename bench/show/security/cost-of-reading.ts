import { digestOf } from "#cas/digest-of.ts";
import { readingVerbs } from "#core/verb.ts";
import { sql } from "#db/sql.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { aPrivateFarm } from "#server/private-farm.fixture.ts";
import { postTo } from "../../../test/support/ask-server.ts";
import { quantile } from "../quantile.ts";
import type { Measurement, Row } from "../row.ts";
import { processTree } from "../start/process-tree.ts";

const graphs = 1_000;
/** With those of the two teams and their project, one pattern for each makes ten. */
const repositories = 7;
const logBytes = 4 * 1024 * 1024;
const digests = 10_000;
/** How often each caller has its turn. */
const turns = 40;
/** In percent of the time without. */
const mostCost = 3;

type Farm = Awaited<ReturnType<typeof aPrivateFarm>>;
type Read = (token: string) => Promise<number>;

/**
 * What the right to read costs: the same answers for a caller that may read everything, for which nothing is filtered,
 * and for one whose grants have ten patterns.
 */
export const costOfReading: Measurement = {
  title: "cost of the right to read",
  long: false,
  async measure() {
    const farm = await aPrivateFarm("own");
    try {
      await fillFarm(farm);
      const everything = await farm.tokenOf("reads-everything", readingVerbs);
      const patterns = [
        farm.theirs.repository,
        farm.theirs.project,
        // The other team's own repository.
        "*beta",
        ...Array.from({ length: repositories }, (_, n) => `bench-${n}-*`),
      ];
      const tenPatterns = await farm.tokenOf("reads-ten-patterns", []);
      for (const repository of patterns)
        for (const verb of readingVerbs)
          await postTo(
            farm.server,
            "/grants",
            { principal: "reads-ten-patterns", verb, repository },
            farm.root,
          );
      const rowOf = async (what: string, calls: number, read: Read) =>
        costRow(what, await compare(calls, everything, tenPatterns, read));
      return [
        await rowOf(`list of ${graphs} graphs`, 5, (token) => listOfGraphs(farm, token)),
        await rowOf("log stream of 4 MiB", 3, (token) => logStream(farm, token)),
        await rowOf(`FindMissing of ${digests} digests`, 1, findMissing(farm)),
      ];
    } finally {
      await farm.stop();
    }
  },
};

/** Copies a graph of the farm into further repositories, and writes a log. */
async function fillFarm({ server, theirs }: Farm): Promise<void> {
  const { db } = server.services;
  await db.script(`
    insert into repository (name, url)
    select 'bench-' || n || '-repository', '/bench/' || n from generate_series(0, ${repositories - 1}) as n;
    do $$
    declare columns text;
    begin
      select string_agg(quote_ident(column_name), ', ') into columns from information_schema.columns
      where table_name = 'graph' and table_schema = current_schema()
        and is_identity = 'NO' and column_name not in ('id', 'repository');
      execute format(
        'insert into graph (id, repository, %1$s)
         select gen_random_uuid(), ''bench-'' || n %% ${repositories} || ''-repository'', %1$s
         from graph cross join generate_series(1, ${graphs - 2}) as n where graph.id = %2$L', columns, '${theirs.graph}');
    end $$;
    analyze graph;
  `);
  const line = "a line of a log, as compilers and tests write them by the thousand\n";
  const chunk = Buffer.from(line.repeat(Math.ceil(65_536 / line.length))).subarray(0, 65_536);
  await db.run(sql`
    insert into log_chunk (execution_id, attempt, byte_offset, bytes)
    select ${theirs.execution}, 1, n * 65536, ${chunk}
    from generate_series(0, ${logBytes / 65_536 - 1}) as n
  `);
}

interface Compared {
  /** CPU time of a call, in ms. */
  readonly everything: number;
  readonly tenPatterns: number;
}

/**
 * Lets both callers read by turns, and compares CPU time: elapsed time would depend on what else the machine does.
 *
 * Of this process, which is client and server, it takes the median call, because a collection of garbage falls on some
 * call by chance. Of PostgreSQL, whose clock has ticks of 10 ms, it takes the mean.
 */
async function compare(
  calls: number,
  everything: string,
  tenPatterns: string,
  read: Read,
): Promise<Compared> {
  const callers = [everything, tenPatterns].map((token) => ({
    token,
    own: [] as number[],
    postgresMs: 0,
  }));
  const sizes = new Set<number>();
  // The first turns compile the code.
  for (let turn = -2; turn < turns; turn++) {
    // Each is the first in every other turn.
    for (const caller of turn % 2 === 0 ? callers : callers.toReversed()) {
      const before = postgresMs();
      for (let call = 0; call < calls; call++) {
        const { user, system } = process.cpuUsage();
        sizes.add(await read(caller.token));
        const after = process.cpuUsage();
        if (turn >= 0) caller.own.push((after.user + after.system - user - system) / 1_000);
      }
      if (turn >= 0) caller.postgresMs += postgresMs() - before;
    }
  }
  if (sizes.size !== 1) throw new Error(`the callers read ${[...sizes].join(" and ")}`);
  const [one = Number.NaN, other = Number.NaN] = callers.map(
    ({ own, postgresMs: ms }) => quantile(own, 0.5) + ms / (turns * calls),
  );
  return { everything: one, tenPatterns: other };
}

/** The CPU time that the descendants of this process have used, in ms: those of PostgreSQL. */
function postgresMs(): number {
  return processTree(process.pid)
    .filter(({ pid }) => pid !== process.pid)
    .reduce((sum, { cpuTicks }) => sum + cpuTicks * 10, 0);
}

function costRow(what: string, { everything, tenPatterns }: Compared): Row {
  const percent = (tenPatterns / everything - 1) * 100;
  return {
    name: `cost of the right to read: ${what}`,
    figure: Math.round(percent * 10) / 10,
    unit: "%",
    goal: `≤ ${mostCost} %`,
    holds: percent <= mostCost,
    how: `CPU time of client, server and PostgreSQL for a caller with ten patterns against one that may read everything, by turns: ${tenPatterns.toFixed(1)} and ${everything.toFixed(1)} ms`,
  };
}

function get({ server }: Farm, path: string, token: string, signal?: AbortSignal) {
  return fetch(`${server.url.replace(/\/$/, "")}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads all pages; returns the number of graphs. */
async function listOfGraphs(farm: Farm, token: string): Promise<number> {
  let before = "";
  let count = 0;
  for (;;) {
    const page = await get(farm, `/graphs?limit=200${before}`, token);
    const graphs = (await page.json()) as readonly { readonly id: string }[];
    count += graphs.length;
    const last = graphs.at(-1);
    if (last === undefined || graphs.length < 200) return count;
    before = `&before=${last.id}`;
  }
}

/** Follows the log until all of it has arrived; returns the bytes of its events. */
async function logStream(farm: Farm, token: string): Promise<number> {
  const leave = new AbortController();
  const path = `/executions/${farm.theirs.execution}/log/events`;
  const response = await get(farm, path, token, leave.signal);
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += (part as Uint8Array).byteLength;
    // Each event repeats its lines with few bytes around them.
    if (bytes >= logBytes) break;
  }
  leave.abort();
  return Math.min(bytes, logBytes);
}

function findMissing(farm: Farm): Read {
  const blobDigests = Array.from({ length: digests }, (_, n) => {
    const { hash, sizeBytes } = digestOf(Buffer.from(`missing ${n}`));
    return { hash, sizeBytes: BigInt(sizeBytes) };
  });
  const askers = new Map<string, ReturnType<Farm["asker"]>>();
  return async (token) => {
    const asker = askers.get(token) ?? farm.asker(farm.theirs.project, token);
    askers.set(token, asker);
    const { missingBlobDigests } = await asker.channel.unary(
      ContentAddressableStorage.method.findMissingBlobs,
      { instanceName: farm.theirs.project, blobDigests },
    );
    return missingBlobDigests.length;
  };
}
