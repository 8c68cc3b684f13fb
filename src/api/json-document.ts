import { z } from "zod";

/** A document in its own format, such as a JSON Schema or an OpenAPI description. */
export const JsonDocument = z.record(z.string(), z.unknown()).meta({ id: "JsonDocument" });
