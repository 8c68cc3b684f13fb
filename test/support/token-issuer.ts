import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from "jose";

/** An issuer of signed tokens on loopback, like that of a CI: its discovery document, its keys. */
export interface TokenIssuer {
  readonly url: string;
  readonly kid: string;
  readonly privateKey: CryptoKey;
  /** The public key, in PEM. */
  readonly publicPem: string;
  /** Returns a token that is valid for five minutes unless the claims say otherwise; undefined removes a claim. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    options?: { readonly header?: Partial<JWTHeaderParameters>; readonly key?: CryptoKey },
  ): Promise<string>;
  /** How often its keys were requested. */
  readonly asked: { keys: number };
  stop(): Promise<void>;
}

export async function startTokenIssuer(kid = "key-1"): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, use: "sig", alg: "RS256" };
  const asked = { keys: 0 };
  const server = createServer((request, response) => {
    const answer = (body: unknown) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    if (request.url === "/.well-known/openid-configuration") {
      answer({ issuer: url, jwks_uri: `${url}/keys` });
    } else if (request.url === "/keys") {
      asked.keys += 1;
      answer({ keys: [jwk] });
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    kid,
    privateKey,
    publicPem: await exportSPKI(publicKey),
    asked,
    async sign(claims, { header = {}, key = privateKey } = {}) {
      const now = Math.floor(Date.now() / 1_000);
      const payload = { iss: url, iat: now, exp: now + 300, ...claims };
      const given = Object.entries(payload).filter(([, value]) => value !== undefined);
      return new SignJWT(Object.fromEntries(given) as JWTPayload)
        .setProtectedHeader({ alg: "RS256", kid, ...header })
        .sign(key);
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
