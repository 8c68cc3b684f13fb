import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";
import { createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { TlsIdentity } from "#grpc/tls-handshakes.ts";

interface CertificateFiles {
  /** PEM: the server's certificate, then the intermediate certificates. */
  readonly cert: string;
  /** PEM: its key, without a passphrase. */
  readonly key: string;
  /** PEM: the authorities whose client certificates are accepted. */
  readonly clientCa?: string | undefined;
}

/** The files that a configuration names; undefined when it wants no TLS. */
export function certificateFiles(config: {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly clientCa?: string | undefined;
}): CertificateFiles | undefined {
  const { tlsCert: cert, tlsKey: key, clientCa } = config;
  if (cert !== undefined && key !== undefined) return { cert, key, clientCa };
  if (clientCa !== undefined && cert === undefined && key === undefined) {
    throw new Fault(
      "invalid_argument",
      "--client-ca needs TLS: name a certificate and its key with --tls-cert and --tls-key",
    );
  }
  if (cert === undefined && key === undefined) return undefined;
  throw new Fault(
    "invalid_argument",
    cert === undefined
      ? "there is a key for TLS but no certificate; name its file with --tls-cert or GRANGE_TLS_CERT"
      : "there is a certificate for TLS but no key; name its file with --tls-key or GRANGE_TLS_KEY",
  );
}

/** The current certificate: it is renewed while the server runs. */
export interface Certificate extends Service {
  identity(): TlsIdentity;
  /** Whether the certificate is valid for this name or address. */
  covers(name: string): boolean;
  /** The names in the certificate, as they are written there. */
  readonly names: readonly string[];
  readonly endsAt: Date;
}

/** Renewal programs replace the files days before the old certificate ends. */
const lookAgainMs = 60_000;

/** Reads the certificate and the key, and reads them again when the files change. Throws when they are unusable now. */
export async function openCertificate(
  files: CertificateFiles,
  logger: Logger,
  lookAgainEveryMs: number = lookAgainMs,
): Promise<Certificate> {
  let version = await versionOf(files);
  let current = await read(files);
  const warn = () => {
    const problem = problemOfTime(current.x509, new Date());
    if (problem !== undefined) logger.warn({ ...files }, `the certificate ${problem}`);
  };
  warn();
  let looking = Promise.resolve();
  const lookAgain = async () => {
    try {
      const found = await versionOf(files);
      if (found === version) return;
      // Certificate and key are two files: between the two renames they do not match, and are read again.
      current = await read(files);
      version = found;
      logger.info({ ...files, until: current.x509.validTo }, "the certificate is renewed");
      warn();
    } catch (reason) {
      logger.error({ reason: messageOf(reason) }, "the old certificate stays");
    }
  };
  const timer = setInterval(() => {
    looking = looking.then(lookAgain);
  }, lookAgainEveryMs);
  timer.unref();

  return {
    identity: () => current.identity,
    covers: (name) => covers(current.x509, name),
    get names() {
      return namesIn(current.x509);
    },
    get endsAt() {
      return new Date(current.x509.validTo);
    },
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

interface Usable {
  readonly identity: TlsIdentity;
  readonly x509: X509Certificate;
}

async function read(files: CertificateFiles): Promise<Usable> {
  const [cert, key, clientCa] = await Promise.all([
    textOf(files.cert, "certificate", "GRANGE_TLS_CERT"),
    textOf(files.key, "key", "GRANGE_TLS_KEY"),
    files.clientCa === undefined ? undefined : authoritiesIn(files.clientCa),
  ]);
  const x509 = parsed(`${files.cert} holds no certificate in PEM`, () => new X509Certificate(cert));
  const privateKey = parsed(
    `${files.key} holds no private key in PEM, or one with a passphrase`,
    () => createPrivateKey(key),
  );
  if (!x509.checkPrivateKey(privateKey)) {
    throw new Fault(
      "failed_precondition",
      `the key in ${files.key} does not belong to the certificate in ${files.cert}`,
    );
  }
  // Checked now, because an error later would appear in the middle of a handshake.
  parsed(`${files.cert} cannot be used`, () => createSecureContext({ cert, key }));
  return { identity: { cert, key, clientCa }, x509 };
}

/** Node accepts any text as a list of authorities, and does not report a text without any. */
async function authoritiesIn(file: string): Promise<string> {
  const pem = await textOf(file, "authority of clients", "GRANGE_CLIENT_CA");
  parsed(`${file} holds no certificate of an authority in PEM`, () => new X509Certificate(pem));
  return pem;
}

async function textOf(file: string, what: string, setting: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `the server's ${what} cannot be read: ${messageOf(cause)}. ${setting} names the file`,
      { cause },
    );
  }
}

function parsed<T>(problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new Fault("failed_precondition", `${problem}: ${messageOf(cause)}`, { cause });
  }
}

/** Returns a text that changes when one of the files is written, or a symlink in its path changes. */
async function versionOf({ cert, key, clientCa }: CertificateFiles): Promise<string> {
  const files = clientCa === undefined ? [cert, key] : [cert, key, clientCa];
  const all = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
  return all.map((file) => `${file?.ino} ${file?.mtimeMs} ${file?.size}`).join(", ");
}

export function problemOfTime(x509: X509Certificate, now: Date): string | undefined {
  if (now > new Date(x509.validTo)) return `expired on ${x509.validTo}`;
  return now < new Date(x509.validFrom) ? `is not valid before ${x509.validFrom}` : undefined;
}

function covers(x509: X509Certificate, name: string): boolean {
  const bare = name.replace(/^\[|\]$/g, "");
  return (isIP(bare) === 0 ? x509.checkHost(bare) : x509.checkIP(bare)) !== undefined;
}

function namesIn({ subjectAltName = "" }: X509Certificate): string[] {
  return [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map((match) => match[1] ?? "");
}
