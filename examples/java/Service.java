// A Java 17 service whose callers share a limit kept by Fleetgate, so that it holds over all its replicas.
//
//   FLEETGATE_URL=https://gate.example.com FLEETGATE_KEY=fg_… java Service.java
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;

public class Service {
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();

    /** One take of a limit for a key; empty without an answer. A key here is an address, so it needs no escaping. */
    static Optional<HttpResponse<String>> take(String limit, String key) {
        HttpRequest request = HttpRequest.newBuilder()
                .uri(URI.create(env("FLEETGATE_URL", null) + "/v1/limits/" + limit + "/take"))
                .timeout(Duration.ofSeconds(1))
                .header("Authorization", "Bearer " + env("FLEETGATE_KEY", null))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"key\":\"" + key + "\"}"))
                .build();
        try {
            HttpResponse<String> answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() == 200) return Optional.of(answer);
            System.err.println("no limit without Fleetgate: " + answer.statusCode());
        } catch (IOException error) {
            System.err.println("no limit without Fleetgate: " + error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
        return Optional.empty();
    }

    static void handle(HttpExchange call) throws IOException {
        String caller = call.getRemoteAddress().getAddress().getHostAddress();
        Optional<HttpResponse<String>> take = take(env("LIMIT", "api"), caller);
        take.ifPresent(answer -> {
            for (String name : List.of("RateLimit", "RateLimit-Policy", "Retry-After")) {
                answer.headers().firstValue(name).ifPresent(value -> call.getResponseHeaders().set(name, value));
            }
        });
        // Without an answer the service goes on; one that must not would answer 503 here.
        boolean refused = take.map(answer -> answer.body().contains("\"allowed\":false")).orElse(false);
        byte[] body = (refused ? "{\"error\":\"too many requests\"}" : "{\"hello\":\"world\"}")
                .getBytes(StandardCharsets.UTF_8);
        call.getResponseHeaders().set("Content-Type", "application/json");
        call.sendResponseHeaders(refused ? 429 : 200, body.length);
        call.getResponseBody().write(body);
        call.close();
    }

    static String env(String name, String otherwise) {
        return Optional.ofNullable(System.getenv(name)).or(() -> Optional.ofNullable(otherwise)).orElseThrow();
    }

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(env("PORT", "3000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", Service::handle);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
    }
}
