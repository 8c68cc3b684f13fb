import type { Service } from "#core/service.ts";

/** Notes a service that was opened, so that it is stopped with the others; returns it. */
export type Keep = <S extends Service>(service: S) => S;
