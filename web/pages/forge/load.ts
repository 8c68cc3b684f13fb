import { queryOptions } from "@tanstack/react-query";
import { ForgeRepositories, ForgeRepositoryDetail } from "#api/forge.ts";
import { ask } from "../../farm/ask.ts";

export const watchedQuery = queryOptions({
  queryKey: ["forge"],
  queryFn: ({ signal }) => ask(ForgeRepositories, "/forge/repositories", { signal }),
  refetchInterval: 10_000,
});

export const watchedOneQuery = (repository: string) =>
  queryOptions({
    queryKey: ["forge", repository],
    queryFn: ({ signal }) =>
      ask(
        ForgeRepositoryDetail,
        `/forge/repository?${new URLSearchParams({ repository }).toString()}`,
        { signal },
      ),
    refetchInterval: 10_000,
  });
