import { queryOptions } from "@tanstack/react-query";
import { GraphSet } from "#api/rerun.ts";
import { ask } from "../../farm/ask.ts";

export const setQuery = (id: string) =>
  queryOptions({
    queryKey: ["set", id],
    queryFn: ({ signal }) => ask(GraphSet, `/sets/${encodeURIComponent(id)}`, { signal }),
  });
