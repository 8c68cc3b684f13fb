import type { Command } from "commander";
import type { Search } from "#api/search.ts";
import type { Describe } from "../command-list.ts";
import { speaksToServer, withExamples } from "../common-options.ts";
import { answer, type CommonOptions, inSession, type Session } from "../session.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { tableLines } from "../terminal/table.ts";
import { UsageError } from "../usage-error.ts";

export const describeSearch: Describe = (command) => {
  speaksToServer(command.command("list"))
    .description("list the latest backfills and bisections")
    .action((options: CommonOptions) =>
      inSession(options, async (session) => {
        const searches = await newestSearches(session);
        return answer(session, options, searches, () =>
          searches.length === 0 ? ["No searches yet."] : tableLines(searches.map(rowOf)),
        );
      }),
    );
  describeOne(command, "show", "show the results of a search", async (session, { id }) => {
    const { searchEndpoints } = await import("#api/endpoints/search-endpoints.ts");
    return session.api.call(searchEndpoints.search, {
      params: { search: id },
      query: { limit: 1 },
    });
  });
  describeOne(
    command,
    "cancel",
    "cancel a search and its unfinished graphs",
    async (session, { id }) => {
      const { searchEndpoints } = await import("#api/endpoints/search-endpoints.ts");
      return session.api.call(searchEndpoints.cancelSearch, { params: { search: id } });
    },
  );
  withExamples(command, [
    ["list recent searches", "search list"],
    ["cancel a search, by a prefix of its id", "search cancel 3f2a"],
  ]);
};

function describeOne(
  command: Command,
  verb: string,
  what: string,
  work: (session: Session, search: Search) => Promise<Search>,
): void {
  speaksToServer(command.command(`${verb} <search>`))
    .description(what)
    .action((written: string, options: CommonOptions) =>
      inSession(options, async (session) => {
        const found = (await newestSearches(session)).filter(({ id }) => id.startsWith(written));
        const [search, ...others] = found;
        if (search === undefined)
          throw new UsageError(
            `no recent search has an id that begins with "${written}"; see: grange search list`,
          );
        if (others.length > 0)
          throw new UsageError(
            `"${written}" is the prefix of ${found.length} ids of searches; write a longer one`,
          );
        const now = await work(session, search);
        return answer(session, options, now, () => [
          ...tableLines([rowOf(now)]),
          ...(now.message === null ? [] : [printableLine(now.message)]),
        ]);
      }),
    );
}

async function newestSearches({ api }: Session): Promise<Search[]> {
  const { searchEndpoints } = await import("#api/endpoints/search-endpoints.ts");
  return api.call(searchEndpoints.searches, { query: { limit: 200 } });
}

function rowOf(search: Search): string[] {
  const { asked = 0, good = 0, bad = 0, skipped = 0 } = search.counts;
  const done = good + bad + skipped;
  return [
    search.id.slice(0, 8),
    search.kind,
    search.state,
    `${done} of ${search.commits} commits${asked === 0 ? "" : `, ${asked} in progress`}`,
    printableLine(search.repository),
    printableLine(search.selection),
  ];
}
