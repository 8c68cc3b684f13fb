import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** Files in PEM. */
interface IssuedFiles {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for tests, made with openssl, in files of a directory. */
export interface TestAuthority {
  /** The file of its own certificate. */
  readonly cert: string;
  /** Issues a certificate for a subject such as `/CN=attic`. */
  issue(subject: string, more?: IssueOptions): Promise<IssuedFiles>;
}

interface IssueOptions {
  /** Lines of an extension file. */
  readonly extensions?: readonly string[];
  /** From now on; a negative number makes an expired certificate. */
  readonly days?: number;
}

const ellipticKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export async function testAuthority(directory: string, name: string): Promise<TestAuthority> {
  const openssl = (...args: string[]) => promisify(execFile)("openssl", args, { cwd: directory });
  const named = ["-subj", `/CN=${name}`, "-keyout", `${name}.key`, "-out", `${name}.crt`];
  await openssl("req", "-x509", ...ellipticKey, "-days", "2", ...named);
  return {
    cert: join(directory, `${name}.crt`),
    async issue(subject, { extensions = [], days = 1 } = {}) {
      const file = randomUUID();
      await writeFile(join(directory, `${file}.ext`), extensions.join("\n"));
      const [key, csr, crt] = [`${file}.key`, `${file}.csr`, `${file}.crt`];
      await openssl("req", ...ellipticKey, "-subj", subject, "-keyout", key, "-out", csr);
      // A different serial number each time: several are issued at once.
      const signing = ["-CA", `${name}.crt`, "-CAkey", `${name}.key`, "-set_serial", serial()];
      const more = ["-days", String(days), "-extfile", `${file}.ext`];
      await openssl("x509", "-req", "-in", csr, ...signing, ...more, "-out", crt);
      return { cert: join(directory, crt), key: join(directory, key) };
    },
  };
}

function serial(): string {
  return `0x${randomUUID().replaceAll("-", "")}`;
}
