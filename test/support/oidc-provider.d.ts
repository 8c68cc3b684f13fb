/** The package has no types; these are the ones that the tests use. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    callback(): RequestListener;
    on(event: string, heard: (...args: unknown[]) => void): this;
  }
}
