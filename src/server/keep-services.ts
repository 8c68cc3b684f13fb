import type { Service } from "#core/service.ts";

/** Registers an opened service, so that it is stopped together with the others; returns it. */
export type Keep = <S extends Service>(service: S) => S;
