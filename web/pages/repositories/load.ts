import { queryOptions } from "@tanstack/react-query";
import { z } from "zod";
import { Repository } from "#api/graph.ts";
import { ask } from "../../farm/ask.ts";

export const repositoriesQuery = queryOptions({
  queryKey: ["repositories"],
  queryFn: ({ signal }) => ask(z.array(Repository), "/repositories", { signal }),
});
