package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.ExportedDocument;
import io.caravan.server.document.ImportStep;
import io.caravan.server.document.ImportStep.Replaced;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.document.RedirectTarget;
import io.caravan.server.security.Permission;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The endpoints that copy and migrate documents, with their sequences and attributes, between servers. */
final class MigrationEndpoints {
    private static final int MAX_DIGITS = 18;
    private static final String HOLDER = "holder";
    private static final int MAX_ATTRIBUTES = 16;
    private static final String INVALID = "invalid_import";

    private MigrationEndpoints() {}

    /** Describes a document in the form that another server needs to import it. */
    static void export(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        DocumentService documents = exchange.documents();
        exchange.read(() -> {
            DocumentInfo info = StreamPosition.find(documents, name);
            exchange.respond(Response.json(
                    200, ExportedDocument.of(documents, name, info).asJson()));
        });
    }

    private static <K extends Enum<K>> K step(Request query, K[] kinds) {
        String step = query.parameter("step");
        return Arrays.stream(kinds)
                .filter(kind -> word(kind).equals(step))
                .findFirst()
                .orElseThrow(() -> Problem.badRequest(
                        "invalid_parameter",
                        "step must be one of "
                                + Arrays.stream(kinds)
                                        .map(MigrationEndpoints::word)
                                        .collect(Collectors.joining(", "))));
    }

    private static String word(Enum<?> kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    static void importDocument(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        // Parsing and validating JSON may take a long time.
        exchange.writeApart(List.of(name), documents -> {
            ImportStep step = importStep(exchange);
            documents.write(
                    name,
                    document -> Map.of(step.kind().result(), step.applyTo(document)),
                    exchange.outcome(List.of(), result -> Response.json(200, result)));
        });
    }

    private static ImportStep importStep(HttpExchange exchange) {
        Request query = exchange.request;
        ImportStep.Kind kind = step(query, ImportStep.Kind.values());
        ImportBody body = ImportBody.parse(exchange);
        List<Long> numbers = kind.numbers().stream()
                .map(parameter -> number(query, parameter))
                .toList();
        String step = "the step " + word(kind);
        Problem.require(kind.takesAttributes() || body.attributes.isEmpty(), INVALID, step + " has no attributes");
        Problem.require(kind.takesValues() || body.values.isEmpty(), INVALID, step + " has no values");
        return new ImportStep(
                kind, numbers, replaced(query.parameter("replace")), body.documentAttributes(), body.values());
    }

    private static Replaced replaced(@Nullable String given) {
        return switch (given == null ? "false" : given) {
            case "true" -> Replaced.ANYTHING;
            case "redirect" -> Replaced.REDIRECT;
            default -> Replaced.NOTHING;
        };
    }

    static void move(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        Request query = exchange.request;
        MoveStep.Kind kind = step(query, MoveStep.Kind.values());
        RedirectTarget to = null;
        if (kind == MoveStep.Kind.FENCE) {
            // This step names the server to which all clients of the document are redirected.
            exchange.require(Permission.ADMIN, name);
            to = RedirectTarget.parse(Objects.requireNonNullElse(query.parameter("to"), ""));
        }
        boolean held = kind == MoveStep.Kind.FENCE
                || kind == MoveStep.Kind.REDIRECT
                || kind == MoveStep.Kind.ABANDON && query.parameter(HOLDER) != null;
        MoveStep step = new MoveStep(kind, held ? OptionalLong.of(number(query, HOLDER)) : OptionalLong.empty(), to);
        exchange.write(
                name,
                documents -> documents.write(
                        name,
                        document -> result(kind, step.applyTo(document)),
                        exchange.outcome(List.of(), result -> Response.json(200, result))));
    }

    private static Object result(MoveStep.Kind kind, Object result) {
        return switch (kind) {
            case FENCE -> result;
            case REDIRECT -> Map.of("to", result);
            case ABANDON -> Map.of("abandoned", result);
            case FORGET -> Map.of("forgotten", result);
        };
    }

    private static long number(Request query, String parameter) {
        String given = query.parameter(parameter);
        long number = given == null || given.length() > MAX_DIGITS ? -1 : Request.parse(given);
        Problem.require(number >= 0, "invalid_parameter", parameter + " must be a number, of at most 18 digits");
        return number;
    }

    /**
     * The body of an import step: <code>{"attributes": {...}, "values": ["Base64", ...]}</code>. Both fields are
     * optional, and the body may be empty.
     */
    record ImportBody(Map<String, Object> attributes, List<byte[]> values) {
        ImportBody(@Nullable Map<String, Object> attributes, @Nullable List<byte[]> values) {
            this.attributes = Objects.requireNonNullElse(attributes, Map.of());
            this.values = Objects.requireNonNullElse(values, List.of());
        }

        /** Parses the body of an import step. Throws {@link Problem} if it is malformed, or exceeds a limit. */
        static ImportBody parse(HttpExchange exchange) {
            byte[] body = exchange.request.body;
            JsonBody json = exchange.protocol.json;
            HttpConfig config = exchange.protocol.config;
            ImportBody given =
                    body.length == 0 ? new ImportBody(null, null) : json.parse(body, ImportBody.class, INVALID);
            Problem.require(
                    given.attributes.size() <= MAX_ATTRIBUTES,
                    INVALID,
                    "a document has at most " + MAX_ATTRIBUTES + " attributes");
            Problem.require(
                    given.attributes.values().stream()
                            .allMatch(
                                    each -> each instanceof String || each instanceof Integer || each instanceof Long),
                    INVALID,
                    "each attribute must be a number or a string");
            JsonBody.ValueBytes size = new JsonBody.ValueBytes("a step", config.maxBatchBytes());
            for (byte[] value : given.values) {
                if (value.length > config.maxBodyBytes()) {
                    throw new Problem(
                            413,
                            "value_too_large",
                            "a value may have at most " + config.maxBodyBytes() + " bytes, see --max-value; one has "
                                    + value.length);
                }
                size.add(value.length);
            }
            return given;
        }

        /** Converts the body's attributes. Throws {@link IllegalArgumentException} if one is unknown or invalid. */
        DocumentAttributes documentAttributes() {
            Map<String, byte[]> given = new LinkedHashMap<>();
            PortableAttributes.ofJson(attributes)
                    .forEach((name, value) -> given.put(
                            name,
                            value instanceof byte[] bytes
                                    ? bytes
                                    : value.toString().getBytes(StandardCharsets.US_ASCII)));
            return PortableAttributes.parse(given);
        }
    }
}
