import { z } from "zod";
import { MetricDefinition, MetricValue, type SetMetric, Times } from "#api/times.ts";
import type { ApiClient } from "./api-client.ts";

export interface TimesQuery {
  readonly repository?: string | undefined;
  readonly branch?: string | undefined;
  readonly group?: string | undefined;
  readonly window?: string | undefined;
}

export function times(api: ApiClient, query: TimesQuery): Promise<Times> {
  const asked = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    typeof value === "string" ? [[key, value]] : [],
  );
  return api.get(Times, `/times?${new URLSearchParams(asked).toString()}`);
}

export function metrics(api: ApiClient): Promise<MetricDefinition[]> {
  return api.get(z.array(MetricDefinition), "/metrics");
}

export function metric(api: ApiClient, name: string): Promise<MetricValue> {
  return api.get(MetricValue, `/metrics/${encodeURIComponent(name)}`);
}

export function setMetric(api: ApiClient, name: string, set: SetMetric): Promise<MetricValue> {
  return api.put(MetricValue, `/metrics/${encodeURIComponent(name)}`, set);
}
