import { Agent, request } from "node:http";

/** Calls one coordinator over kept connections. */
export interface HttpCaller {
  call<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  close(): void;
}

/** Makes a caller that holds at most `connections` open; anything but 2xx rejects. node:http costs less than fetch. */
export function makeCaller(url: string, key: string, connections: number): HttpCaller {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(url);
  return {
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body);
        const headers: Record<string, string | number> = { authorization: `Bearer ${key}` };
        if (text !== undefined) {
          headers["content-type"] = "application/json";
          headers["content-length"] = Buffer.byteLength(text);
        }
        const sent = request({ agent, hostname, port, path, method, headers }, (response) => {
          let answer = "";
          response.setEncoding("utf8");
          response.on("data", (chunk) => {
            answer += chunk;
          });
          response.once("error", reject);
          response.once("end", () => {
            const { statusCode = 0 } = response;
            if (statusCode >= 200 && statusCode < 300) resolve(JSON.parse(answer));
            else reject(new Error(`${method} ${path}: ${statusCode} ${answer}`));
          });
        });
        sent.once("error", reject);
        sent.end(text);
      }),
    close: () => agent.destroy(),
  };
}
