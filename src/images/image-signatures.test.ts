import { generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "#core/fault.ts";
import { parseImageReference } from "./image-reference.ts";
import { type ImageSignature, requireSignature } from "./image-signatures.ts";
import { readSignaturePolicy, ruleFor, type SignaturePolicy } from "./signature-policy.ts";
import { encodedForSignature, SigstoreForTests, statementAbout } from "./sigstore.fixture.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;
const workflow = "https://github.com/me/web/.github/workflows/release.yml@refs/tags/v1";
const issuer = "https://token.actions.githubusercontent.com";
const by = { identity: workflow, issuer };

const sigstore = new SigstoreForTests();
let directory: string;
let policy: SignaturePolicy;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "grange-signatures-"));
  writeFileSync(join(directory, "trusted_root.json"), JSON.stringify(sigstore.trustedRoot()));
  policy = await readSignaturePolicy(
    signersFile([{ identity: workflow.replace("v1", "*"), issuer }]),
  );
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function file(content: unknown): string {
  const path = join(directory, `file-${files++}`);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function signersFile(signers: unknown, trustedRoot: unknown = "trusted_root.json"): string {
  return file({ trustedRoot, signers });
}

const reference = parseImageReference(`ghcr.io/me/web@${digest}`);

/** Returns why the image may not run; undefined if it may. */
function refusal(signature: ImageSignature, of = policy): string | undefined {
  const rule = ruleFor(of, reference);
  if (rule === undefined) throw new Error("no rule");
  try {
    requireSignature(rule, reference, digest, [signature]);
    return undefined;
  } catch (reason) {
    return messageOf(reason);
  }
}

const asBundle = (json: unknown): ImageSignature => ({
  kind: "bundle",
  json: Buffer.from(JSON.stringify(json)),
});

/** The two ways in which cosign stores a keyless signature. */
const forms = [
  {
    form: "an annotation of cosign 2",
    signed: (signing: Parameters<SigstoreForTests["bundle"]>[1], of = digest, from = sigstore) =>
      from.simpleSigning(of, signing),
  },
  {
    form: "a bundle of cosign 3",
    signed: (signing: Parameters<SigstoreForTests["bundle"]>[1], of = digest, from = sigstore) =>
      asBundle(from.bundle(of, signing)),
  },
];

describe.each(forms)("a keyless signature as $form", ({ signed }) => {
  test("counts when it is by an identity of the operator, years after its certificate expired", () => {
    expect(refusal(signed(by))).toBeUndefined();
  });

  test.each([
    { of: "another identity", who: { identity: "https://github.com/me/web/other", issuer } },
    {
      of: "the identity at another issuer",
      who: { identity: workflow, issuer: "https://evil.example" },
    },
    { of: "an email address", who: { identity: "me@example.com", issuer } },
  ])("does not count when it is by $of, and the reason names it", ({ who }) => {
    expect(refusal(signed(who))).toContain(
      `it is by ${JSON.stringify(who.identity)} of the issuer ${JSON.stringify(who.issuer)}, whom the operator does not list`,
    );
  });

  test("does not count for another image", () => {
    expect(refusal(signed(by, other))).toContain("it is for another digest");
  });

  test("does not count with the certificate of another authority", () => {
    expect(refusal(signed(by, digest, new SigstoreForTests()))).toContain("certificate");
  });

  test("does not count when it was made after its certificate expired", () => {
    const late = {
      issuedAt: new Date("2026-06-01T00:00:00Z"),
      loggedAt: new Date("2026-06-01T00:11:00Z"),
    };
    expect(refusal(signed({ ...by, ...late }))).toContain("certificate");
  });

  test("does not count when the log of certificates does not have the certificate", () => {
    expect(refusal(signed({ ...by, isCertificateLogged: false }))).toContain(
      "expected 1 SCTs, got 0",
    );
  });
});

describe("a keyless signature of cosign 2 does not count", () => {
  const signature = sigstore.simpleSigning(digest, by);
  const entry = JSON.parse(signature.logEntry ?? "") as {
    SignedEntryTimestamp: string;
    Payload: { integratedTime: number };
  };

  test.each([
    {
      without: "an entry of the log",
      changed: { logEntry: undefined },
      why: "it has no entry of a log",
    },
    { without: "a certificate", changed: { certificate: undefined }, why: "it has no certificate" },
    { without: "a readable certificate", changed: { certificate: "none" }, why: "PEM" },
    {
      without: "a readable entry",
      changed: { logEntry: "{}" },
      why: "its entry of a log cannot be read",
    },
    {
      without: "the signed text",
      changed: { payload: Buffer.concat([signature.payload, Buffer.from(" ")]) },
      why: "mismatch",
    },
    {
      without: "the time that the log has signed",
      changed: {
        logEntry: JSON.stringify({
          ...entry,
          Payload: { ...entry.Payload, integratedTime: entry.Payload.integratedTime + 1 },
        }),
      },
      why: "inclusion promise could not be verified",
    },
    {
      without: "the entry of this signature, but with another one's",
      changed: { logEntry: sigstore.simpleSigning(digest, by).logEntry },
      why: "mismatch",
    },
  ])("without $without", ({ changed, why }) => {
    expect(refusal({ ...signature, ...changed })).toContain(why);
  });
});

describe("a bundle does not count", () => {
  const bundle = () => sigstore.bundle(digest, by);
  type Bundle = ReturnType<typeof bundle>;
  const entryOf = (of: Bundle) => {
    const [entry] = of.verificationMaterial.tlogEntries;
    if (entry === undefined) throw new Error("no entry");
    return entry;
  };
  const changed: readonly [string, string, (of: Bundle) => unknown][] = [
    [
      "with another statement",
      "mismatch",
      (of) => (of.dsseEnvelope.payload = statementAbout(other).toString("base64")),
    ],
    [
      "with another kind of text",
      "signature",
      (of) => (of.dsseEnvelope.payloadType = "text/plain" as never),
    ],
    [
      "with the signature of another one",
      "mismatch",
      (of) => (of.dsseEnvelope.signatures = sigstore.bundle(digest, by).dsseEnvelope.signatures),
    ],
    [
      "with the certificate of another one",
      "signature",
      (of) =>
        (of.verificationMaterial.certificate = sigstore.bundle(
          digest,
          by,
        ).verificationMaterial.certificate),
    ],
    [
      "without an entry of the log",
      "timestamps",
      (of) => (of.verificationMaterial.tlogEntries = []),
    ],
    [
      "without the promise, which has the time",
      "timestamps",
      (of) => Reflect.deleteProperty(entryOf(of), "inclusionPromise"),
    ],
    [
      "without the proof",
      "invalid bundle",
      (of) => Reflect.deleteProperty(entryOf(of), "inclusionProof"),
    ],
    [
      "with another state of the log",
      "root hash",
      (of) =>
        (entryOf(of).inclusionProof.checkpoint.envelope = entryOf(
          sigstore.bundle(other, by),
        ).inclusionProof.checkpoint.envelope),
    ],
    [
      "with a state of the log that nobody has signed",
      "checkpoint signature",
      (of) =>
        (entryOf(of).inclusionProof.checkpoint.envelope = entryOf(
          of,
        ).inclusionProof.checkpoint.envelope.replace("rekor.example - 1", "rekor.example - 2")),
    ],
    [
      "whose checkpoint has an expression as a name",
      "a name that no log has",
      (of) => (entryOf(of).inclusionProof.checkpoint.envelope += "\u2014 (.|.)*(.|.)*! AAAAAAAA\n"),
    ],
    [
      "with the hint of a key for a certificate",
      "key not found",
      (of) =>
        (of.verificationMaterial = {
          publicKey: { hint: "x" },
          tlogEntries: of.verificationMaterial.tlogEntries,
        } as never),
    ],
    [
      "that is empty",
      "invalid bundle",
      (of) => Object.keys(of).forEach((key) => Reflect.deleteProperty(of, key)),
    ],
  ];
  test.each(changed)("%s", (_, why, change) => {
    const tried = bundle();
    change(tried);
    expect(refusal(asBundle(tried))).toContain(why);
  });

  test("whose statement is a list of vulnerabilities, but one whose statement says who built the image does", () => {
    const about = (predicateType: string) =>
      asBundle(sigstore.bundle(digest, { ...by, predicateType }));

    expect(refusal(about("https://cosign.sigstore.dev/attestation/vuln/v1"))).toContain(
      "another digest",
    );
    expect(refusal(about("https://slsa.dev/provenance/v1"))).toBeUndefined();
  });

  test("that is no JSON", () => {
    expect(refusal({ kind: "bundle", json: Buffer.from("no") })).toContain("JSON");
  });

  test("when another text is beside its own", () => {
    const messageSignature = {
      messageDigest: { algorithm: "SHA2_256", digest: "AAAA" },
      signature: "AAAA",
    };
    expect(refusal(asBundle({ ...bundle(), messageSignature }))).toContain("mismatch");
  });
});

describe("a signature with the time of a timestamp authority", () => {
  const inTime = new Date("2026-06-01T00:05:00Z");
  const tooLate = new Date("2026-06-01T00:11:00Z");

  /** As Rekor 2 has it: the log proves that it has the signature, but not when it got it. */
  const withoutLogTime = (timestampOf: (signature: string) => string): ImageSignature => {
    const bundle = sigstore.bundle(digest, by);
    const { tlogEntries, ...material } = bundle.verificationMaterial;
    const entries = tlogEntries.map((entry) => ({
      ...entry,
      inclusionPromise: undefined,
      integratedTime: "0",
    }));
    const signature = bundle.dsseEnvelope.signatures[0]?.sig ?? "";
    return asBundle({
      ...bundle,
      verificationMaterial: {
        ...material,
        tlogEntries: entries,
        timestampVerificationData: {
          rfc3161Timestamps: [{ signedTimestamp: timestampOf(signature) }],
        },
      },
    });
  };
  /** As cosign 2 has it, beside the time of the log. */
  const besideLogTime = (timestampOf: (signature: string) => string): ImageSignature => {
    const signed = sigstore.simpleSigning(digest, by);
    const timestamp = timestampOf(signed.signature);
    return { ...signed, timestamp: JSON.stringify({ SignedRFC3161Timestamp: timestamp }) };
  };
  const forms = [
    { form: "a bundle of a log without times", signedAt: withoutLogTime },
    { form: "an annotation beside the time of the log", signedAt: besideLogTime },
  ];

  test.each(forms)("counts as $form", ({ signedAt }) => {
    expect(refusal(signedAt((signature) => sigstore.timestamp(signature, inTime)))).toBeUndefined();
  });

  test.each(
    forms.flatMap((form) => [
      {
        ...form,
        time: "that is after the end of the certificate",
        timestampOf: (signature: string) => sigstore.timestamp(signature, tooLate),
        why: "certificate",
      },
      {
        ...form,
        time: "that is for another signature",
        timestampOf: () => sigstore.timestamp("AAAA", inTime),
        why: "timestamp could not be verified",
      },
      {
        ...form,
        time: "by another authority",
        timestampOf: (signature: string) => new SigstoreForTests().timestamp(signature, inTime),
        why: "timestamp could not be verified",
      },
      {
        ...form,
        time: "that is no answer of an authority",
        timestampOf: () => "AAAA",
        why: "",
      },
    ]),
  )("does not count as $form with a time $time", ({ signedAt, timestampOf, why }) => {
    const reason = refusal(signedAt(timestampOf));

    expect(reason).toBeDefined();
    expect(reason).toContain(why);
  });
});

describe("a key of the operator", () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyFile = () => file(pair.publicKey.export({ type: "spki", format: "pem" }).toString());
  const signedWithKey = (payload: Buffer) =>
    asBundle({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint: "x" } },
      dsseEnvelope: {
        payload: payload.toString("base64"),
        payloadType: "application/vnd.in-toto+json",
        signatures: [
          { sig: sign("sha256", encodedForSignature(payload), pair.privateKey).toString("base64") },
        ],
      },
    });

  test("may have signed a bundle", async () => {
    const keys = await readSignaturePolicy(keyFile());

    expect(refusal(signedWithKey(statementAbout(digest)), keys)).toBeUndefined();
    expect(refusal(signedWithKey(statementAbout(other)), keys)).toContain("another digest");
    expect(refusal(asBundle(sigstore.bundle(digest, by)), keys)).toContain("not made with a key");
  });

  test("and an identity for the same images: either is enough", async () => {
    const both = await readSignaturePolicy(
      `ghcr.io/me/*=${keyFile()},ghcr.io/me/*=${signersFile([{ identity: workflow, issuer }])}`,
    );

    expect(refusal(signedWithKey(statementAbout(digest)), both)).toBeUndefined();
    expect(refusal(asBundle(sigstore.bundle(digest, by)), both)).toBeUndefined();
    expect(both.rules.map(({ pattern }) => pattern)).toEqual(["ghcr.io/me/*"]);
  });
});

test("images that were verified for other identities or another root are verified again", async () => {
  const signers = [{ identity: workflow, issuer }];
  const nameOf = async (path: string) => (await readSignaturePolicy(path)).rules[0]?.name;
  const first = await nameOf(signersFile(signers));

  expect(await nameOf(signersFile(signers))).toBe(first);
  expect(await nameOf(signersFile([{ identity: "me@example.com", issuer }]))).not.toBe(first);
  const root = file(new SigstoreForTests().trustedRoot());
  expect(await nameOf(signersFile(signers, root))).not.toBe(first);
});

describe("a file of identities is refused", () => {
  const signers = [{ identity: workflow, issuer }];
  test.each<[string, string, () => string]>([
    ["that is cut off", "is not JSON", () => file('{"trustedRoot": ')],
    ["without identities", "signers", () => signersFile([])],
    [
      "with every identity of an issuer",
      "anybody could sign",
      () => signersFile([{ identity: "*", issuer }]),
    ],
    [
      "with an issuer that is no URL",
      "issuer",
      () => signersFile([{ identity: workflow, issuer: "github" }]),
    ],
    [
      "with a key that does not exist",
      "regexp",
      () => signersFile([{ identity: workflow, issuer, regexp: true }]),
    ],
    ["whose trusted root is absent", "cannot be read", () => signersFile(signers, "absent.json")],
    [
      "whose trusted root is a bundle",
      "no trusted root",
      () => signersFile(signers, file(sigstore.bundle(digest, by))),
    ],
    [
      "whose trusted root has no log",
      "no trusted root",
      () => signersFile(signers, file({ ...sigstore.trustedRoot(), tlogs: [] })),
    ],
    [
      "whose trusted root has no certificate",
      "no trusted root",
      () =>
        signersFile(
          signers,
          file({
            ...sigstore.trustedRoot(),
            certificateAuthorities: [{ certChain: { certificates: [{ rawBytes: "AAAA" }] } }],
          }),
        ),
    ],
  ])("%s", async (_, why, path) => {
    await expect(readSignaturePolicy(path())).rejects.toThrow(why);
  });
});
