package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.ImportStep.Kind;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.Origin;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.document.RedirectTarget;
import io.caravan.server.protocol.http.Offset;
import io.caravan.server.protocol.http.Problem;
import io.caravan.server.protocol.http.StreamName;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Accesses documents on a server over HTTP. Requests that do not wait for earlier responses use several connections
 * concurrently. A read is retried if the server is busy or unreachable. A write is not retried, because it may have
 * been executed.
 */
public final class HttpDocumentClient implements DocumentClient {
    private static final int CONNECTIONS = 8;
    /**
     * The maximum length of a response. A page contains about 256 KiB of values, or one value; an untrusted server
     * could send more.
     */
    private static final int MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

    private static final int MAX_LIMIT = 1_000;
    private static final int OK = 200;
    private static final int UNAUTHORIZED = 401;
    private static final int NOT_FOUND = 404;
    /** A JSON mapper with a string length limit above Jackson's default, so that the longest value in Base64 fits. */
    private static final ObjectMapper JSON = new ObjectMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxStringLength(MAX_RESPONSE_BYTES)
                    .build())
            .build());
    /** Problem codes for a document that is not in the state that the request expects. */
    private static final Set<String> OTHER_STATES =
            Set.of(("exists gone closed restoring changed sequence_conflict offset_trimmed offset_out_of_range reserved"
                            + " too_large over_quota not_json has_forks moving")
                    .split(" "));

    private final HttpLink link;
    private final String whereToken;
    private final ExecutorService connections =
            Executors.newFixedThreadPool(CONNECTIONS, new DefaultThreadFactory("caravan-carrier", true));

    /** Creates a client; {@code whereToken} is the source of the token, for messages about a wrong token. */
    HttpDocumentClient(HttpLink link, String whereToken) {
        this.link = link;
        this.whereToken = whereToken;
    }

    private <T> Reply<T> request(Callable<@Nullable T> request) {
        try {
            Future<@Nullable T> response = connections.submit(request);
            return () -> response(response);
        } catch (RejectedExecutionException cut) {
            throw lost(cut);
        }
    }

    private ServerConnection.LostException lost(RuntimeException cut) {
        return new ServerConnection.LostException("the connection to " + link.base() + " was cut", cut);
    }

    private <T> @Nullable T response(Future<@Nullable T> response) {
        try {
            return response.get();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw ClientException.failed("interrupted", stop);
        } catch (CancellationException cut) {
            throw lost(cut);
        } catch (ExecutionException failed) {
            Throwable cause = Objects.requireNonNull(failed.getCause());
            if (cause instanceof IOException) {
                throw new ServerConnection.LostException(String.valueOf(cause.getMessage()), cause);
            }
            throw cause instanceof ClientException rejection
                    ? rejection
                    : ClientException.failed(String.valueOf(cause.getMessage()), cause);
        }
    }

    private <T> T now(Callable<@Nullable T> request) {
        return Objects.requireNonNull(request(request).receive());
    }

    @Override
    public About about() {
        JsonNode page = now(() -> documents("limit=1"));
        return new About(page.path("run").asText(""), page.path("incomplete").asBoolean());
    }

    @Override
    public Names scan(Names before, byte[] prefix) {
        String query = "limit=" + MAX_LIMIT + "&prefix=" + URLEncoder.encode(new String(prefix, UTF_8), UTF_8)
                + "&cursor=" + new String(before.cursor(), US_ASCII);
        JsonNode page = now(() -> documents(query));
        List<byte[]> names = new ArrayList<>();
        for (JsonNode document : page.path("documents")) {
            String path = document.path("path").asText();
            if (!path.startsWith(StreamName.PREFIX)) {
                throw ClientException.failed("the response names a document without its path");
            }
            names.add(name(path));
        }
        String cursor = page.path("cursor").asText("0");
        return new Names(cursor.getBytes(US_ASCII), names);
    }

    private JsonNode documents(String query) throws IOException {
        JsonNode page = read("/v1/documents?" + query);
        if (page == null) {
            throw noServer(NOT_FOUND);
        }
        return page;
    }

    @Override
    public Reply<Description> requestDescription(byte[] name) {
        return request(() -> describe(name));
    }

    private static byte[] name(String path) {
        try {
            return StreamName.of(path.substring(StreamName.PREFIX.length())).toBytes();
        } catch (Problem reserved) {
            throw ClientException.failed(
                    "a document at " + path + " cannot be copied over HTTP, copy over RESP or with another --prefix: "
                            + reserved.detail(),
                    reserved);
        }
    }

    private @Nullable Description describe(byte[] name) throws IOException {
        JsonNode response = read(path("/v1/export/", name));
        return response == null
                ? null
                : new Description(
                        number(response, "id"),
                        number(response, "first"),
                        number(response, "next"),
                        response.path("bytes").asLong(-1),
                        attributes(response.path("attributes")),
                        response.path("moving").asBoolean(),
                        response.path("identity").asText(null),
                        origin(response));
    }

    private static @Nullable Origin origin(JsonNode response) {
        String identity = response.path("origin").asText(null);
        return identity == null ? null : new Origin(identity, number(response, "copiedTo"));
    }

    private static Map<String, Object> attributes(JsonNode response) throws IOException {
        try {
            return PortableAttributes.ofJson(JSON.convertValue(response, new TypeReference<Map<String, Object>>() {}));
        } catch (IllegalArgumentException senseless) {
            throw new IOException("the attributes in the response are invalid: " + senseless.getMessage(), senseless);
        }
    }

    private static long number(JsonNode response, String field) {
        if (!response.path(field).canConvertToLong()) {
            throw ClientException.failed("the response has no number '" + field + "'; is it a Caravan server?");
        }
        return response.path(field).asLong();
    }

    @Override
    public Reply<List<Value>> requestValues(byte[] name, Description document) {
        return request(() -> {
            List<Value> values = new ArrayList<>();
            read(name, document, values::add);
            return values;
        });
    }

    @Override
    public void read(byte[] name, Description document, Sink sink) throws IOException {
        long next = document.first();
        while (next < document.next()) {
            long limit = Math.min(MAX_LIMIT, document.next() - next);
            JsonNode page =
                    read(path("/v1/values/", name) + "?whole=true&offset=" + Offset.of(next) + "&limit=" + limit);
            if (page == null
                    || number(page, "id") != document.id()
                    || page.path("values").isEmpty()
                    || page.path("values").size() > limit) {
                throw ClientException.otherState(
                        "the document was trimmed or deleted while it was being read, at sequence " + next);
            }
            for (JsonNode value : page.path("values")) {
                sink.take(new Value(next, value.path("base64").binaryValue()));
                next++;
            }
        }
    }

    @Override
    public Reply<Long> requestStep(byte[] name, Step step) {
        Kind kind = step.kind();
        StringBuilder target = new StringBuilder(path("/v1/import/", name))
                .append("?step=")
                .append(kind.name().toLowerCase(Locale.ROOT));
        for (int i = 0; i < step.numbers().size(); i++) {
            target.append('&').append(kind.numbers().get(i)).append('=');
            target.append(step.numbers().get(i));
        }
        target.append(
                switch (step.replaced()) {
                    case NOTHING -> "";
                    case REDIRECT -> "&replace=redirect";
                    case ANYTHING -> "&replace=true";
                });
        return request(() -> {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("attributes", PortableAttributes.asJson(step.attributes()));
            body.put("values", step.values());
            byte[] json = JSON.writeValueAsBytes(body);
            JsonNode response = post(target.toString(), json, "Content-Type", "application/json");
            return kind == Kind.BEGIN ? number(response, "id") : null;
        });
    }

    @Override
    public boolean move(byte[] name, MoveStep step) {
        StringBuilder target = new StringBuilder(path("/v1/move/", name))
                .append("?step=")
                .append(step.kind().name().toLowerCase(Locale.ROOT));
        step.holder().ifPresent(holder -> target.append("&holder=").append(holder));
        RedirectTarget to = step.to();
        if (to != null) {
            target.append("&to=").append(URLEncoder.encode(to.text(), UTF_8));
        }
        JsonNode done = now(() -> post(target.toString(), new byte[0]));
        return done.path("abandoned").asBoolean() || done.path("forgotten").asBoolean();
    }

    private JsonNode post(String target, byte[] body, String... headers) throws IOException {
        try (HttpLink.Response response = link.send("POST", target, body, true, headers)) {
            return accepted(response, body(response));
        }
    }

    /** Sends a read request, and returns the response body, or null if the document does not exist. */
    private @Nullable JsonNode read(String target) throws IOException {
        JsonNode found = new Retries(Retries::sleep).call(() -> {
            try (HttpLink.Response response = link.send("GET", target, new byte[0], true)) {
                JsonNode body = body(response);
                if (response.status() == NOT_FOUND && code(body).equals("not_found")) {
                    return MissingNode.getInstance();
                }
                IOException busy = code(body).equals("restoring") ? null : Retries.busy(link, response);
                if (busy != null) {
                    throw busy;
                }
                return accepted(response, body);
            }
        });
        return found.isMissingNode() ? null : found;
    }

    private static JsonNode body(HttpLink.Response response) throws IOException {
        byte[] body = response.body().readNBytes(MAX_RESPONSE_BYTES);
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException notJson) {
            return MissingNode.getInstance();
        }
    }

    private static String code(JsonNode body) {
        return body.path("code").asText();
    }

    /** Returns the response body, or throws an exception if the response is a rejection. */
    private JsonNode accepted(HttpLink.Response response, JsonNode body) {
        int status = response.status();
        if (status == OK && body.isObject()) {
            return body;
        }
        String code = code(body);
        String detail = body.path("detail").asText();
        if (code.equals("moved")) {
            throw ClientException.of(ClientException.Kind.MOVED, detail);
        }
        if (code.equals("rate_limited")) {
            throw ClientException.tooFast(detail, Retries.pauseMillis(response.header("Retry-After")));
        }
        if (OTHER_STATES.contains(code)) {
            throw ClientException.otherState(detail);
        }
        if (status == UNAUTHORIZED) {
            throw ClientException.failed(
                    "the server at " + link.base() + " requires another token: give it in " + whereToken);
        }
        if (code.isEmpty() || code.equals("unknown_path")) {
            throw noServer(status);
        }
        throw ClientException.failed("the server at " + link.base() + " rejects the request: " + detail);
    }

    private ClientException noServer(int status) {
        return ClientException.failed("the server at " + link.base() + " responds with status " + status
                + ": it is not a Caravan server, or it is too old to transfer documents over HTTP");
    }

    private static String path(String endpoint, byte[] name) {
        return endpoint + StreamName.path(DocumentName.of(name)).substring(StreamName.PREFIX.length());
    }

    @Override
    public void cut() {
        connections.shutdownNow().forEach(waiting -> ((Future<?>) waiting).cancel(false));
    }

    @Override
    public void close() {
        cut();
    }
}
