import { queryOptions } from "@tanstack/react-query";
import { CaseNoise } from "#api/benchmark-noise.ts";
import { ask } from "../../farm/ask.ts";

export const noiseQuery = (asked: { readonly suite: string; readonly case: string }) =>
  queryOptions({
    queryKey: ["benchmark-noise", asked],
    queryFn: ({ signal }) =>
      ask(CaseNoise, `/benchmarks/noise?${new URLSearchParams(asked).toString()}`, { signal }),
    staleTime: 30_000,
  });
