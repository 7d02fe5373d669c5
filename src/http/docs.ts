import { html } from "hono/html";

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  additionalProperties?: Schema | boolean;
};

interface Described {
  operationId: string;
  summary: string;
  description: string;
  requestBody?: { content: { "application/json": { schema: Schema } } };
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  responses: { 200: { content: Record<string, { schema: Schema }> } };
}

/** The OpenAPI document as one page to read, with nothing loaded from elsewhere. */
export function docsPage(document: { paths?: unknown }) {
  const paths = Object.entries((document.paths ?? {}) as Record<string, Record<string, Described>>);
  const rows = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fleetgate API</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>Fleetgate API</h1>
<p>Version 1. JSON over HTTPS with <code>Authorization: Bearer &lt;key&gt;</code>.
The same as a document for tools: <a href="/openapi.json">/openapi.json</a>.</p></header>
<nav aria-label="Calls"><ul>${rows.map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}"><b>${method}</b> <span>${path}</span></a></li>`,
  )}</ul></nav>
<main>${rows.map(section)}</main>
</body></html>`;
}

function section({ path, method, operation }: { path: string; method: string; operation: Described }) {
  const body = operation.requestBody?.content["application/json"].schema;
  const query = operation.parameters.filter((one) => one.in === "query");
  return html`<section id="${operation.operationId}">
<h2><b>${method}</b> <span>${path}</span></h2>
<p>${operation.summary}. ${operation.description}.</p>
${query.length > 0 ? html`<h3>Query</h3><pre>${query.map((one) => line(one.name, one.schema, !one.required)).join("\n")}</pre>` : ""}
${body ? html`<h3>Body</h3><pre>${shape(body, "")}</pre>` : ""}
${Object.entries(operation.responses[200].content).map(
  ([media, { schema }]) =>
    html`<h3>Answer${media === JSON_MEDIA ? "" : ` (${media})`}</h3><pre>${shape(schema, "")}</pre>`,
)}
</section>`;
}

const JSON_MEDIA = "application/json";

const line = (name: string, schema: Schema, optional: boolean) =>
  `${name}${optional ? "?" : ""}: ${shape(schema, "")}`;

/** A JSON schema in the short form people write on a board. */
function shape(schema: Schema, indent: string): string {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return choices.map((one) => shape(one, indent)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.type === "array") return `[${shape(schema.items ?? {}, indent)}, …]`;
  if (schema.type === "object") return objectShape(schema, indent);
  return (schema.type ?? "any") + range(schema) + defaultOf(schema);
}

function objectShape(schema: Schema, indent: string): string {
  const deeper = `${indent}  `;
  if (!schema.properties) {
    const values = typeof schema.additionalProperties === "object" ? schema.additionalProperties : {};
    return `{name: ${shape(values, deeper)}, …}`;
  }
  const lines = Object.entries(schema.properties).map(([name, property]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${deeper}${name}${optional}: ${shape(property, deeper)}`;
  });
  return `{\n${lines.join("\n")}\n${indent}}`;
}

function range({ minimum, maximum }: Schema): string {
  const unbounded = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER;
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return "";
  return unbounded ? ` ≥ ${minimum}` : ` ${minimum}…${maximum}`;
}

const defaultOf = (schema: Schema) =>
  schema.default === undefined ? "" : ` = ${JSON.stringify(schema.default)}`;

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e8eb); --paper: light-dark(#fff, #14171a);
  --soft: light-dark(#f3f4f6, #1d2126); --line: light-dark(#d9dce1, #32383f); --accent: light-dark(#0b5cad, #7ab8f5); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--accent); } code, pre, h2, nav { font-family: ui-monospace, monospace; }
h1 { font-size: 1.6rem; margin: 0; } h3 { font-size: .85rem; margin: 1rem 0 .25rem; }
h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; } h2 b, nav b { color: var(--accent); }
nav ul { list-style: none; padding: 0; font-size: .9rem; } nav li { padding: .15rem 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: 1.25rem 0; }
pre { background: var(--soft); padding: .75rem; margin: 0; overflow-x: auto; font-size: .85rem; }
`;
