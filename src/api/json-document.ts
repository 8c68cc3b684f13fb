import { z } from "zod";

/** A document in a language of its own, such as a JSON Schema or an OpenAPI description. */
export const JsonDocument = z.record(z.string(), z.unknown()).meta({ id: "JsonDocument" });
