package io.caravan.server.protocol.http.endpoint;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes;
import io.caravan.server.document.DocumentImport;
import io.caravan.server.document.DocumentImport.Replaced;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.DocumentMove;
import io.caravan.server.document.DocumentService;
import io.caravan.server.document.EditedDocument;
import io.caravan.server.document.Origin;
import io.caravan.server.document.PortableAttributes;
import io.caravan.server.document.RedirectTarget;
import io.caravan.server.protocol.http.codec.Answer;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Query;
import io.caravan.server.protocol.http.connection.Gate;
import io.caravan.server.protocol.http.connection.HttpExchange;
import io.caravan.server.security.Permission;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The endpoints that copy and migrate documents between servers, with their sequences and attributes. */
public final class MigrationEndpoints {
    private static final String NUMBER = "[0-9]{1,18}";

    private final Endpoints endpoints;

    public MigrationEndpoints(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    /** Describes a document for another server. */
    public void export(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        DocumentService documents = endpoints.readiness().documents();
        endpoints.read(exchange, () -> {
            DocumentInfo info = ReadRequest.find(documents, name);
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("id", info.id());
            fields.put("first", info.firstSequence());
            fields.put("next", info.nextSequence());
            fields.put("bytes", info.attributes().isFork() ? null : documents.bytes(name, info));
            Origin origin = info.attributes().origin();
            fields.put("moving", info.attributes().movingTo() != null);
            fields.put("identity", documents.identity(info));
            fields.put("origin", origin == null ? null : origin.identity());
            fields.put("copiedTo", origin == null ? null : origin.copiedTo());
            fields.put("attributes", PortableAttributes.asJson(PortableAttributes.of(info.attributes())));
            exchange.answer(Answer.json(200, fields));
        });
    }

    /** Imports a document, in one step or in several. */
    public void bring(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        Query query = exchange.request().query();
        String step = query.get("step");
        // Parsing and the validation of JSON may take long.
        endpoints.writeApart(exchange, documents -> {
            Function<EditedDocument, Map<String, Object>> change =
                    change(step == null ? "" : step, query, exchange.request().body());
            documents.write(name, change, Endpoints.answering(exchange, result -> Answer.json(200, result)));
        });
    }

    private Function<EditedDocument, Map<String, Object>> change(String step, Query query, byte[] body) {
        ImportBody carried = ImportBody.parse(body, endpoints.json(), endpoints.config());
        List<byte[]> values = carried.values();
        DocumentAttributes attributes = carried.documentAttributes();
        Replaced replaced = replaced(query.get("replace"));
        switch (step) {
            case "whole" -> {
                long first = number(query, "first");
                return document -> Map.of("next", DocumentImport.whole(document, attributes, first, values, replaced));
            }
            case "begin" -> {
                long first = number(query, "first");
                carried.requireNoValues(step);
                return document -> Map.of("id", DocumentImport.begin(document, attributes, first, replaced));
            }
            case "add" -> {
                long id = number(query, "id");
                long sequence = number(query, "sequence");
                carried.requireNoAttributes(step);
                return document -> Map.of("next", DocumentImport.add(document, id, sequence, values));
            }
            case "end" -> {
                long id = number(query, "id");
                long next = number(query, "sequence");
                carried.requireNoAttributes(step);
                carried.requireNoValues(step);
                return document -> Map.of("next", DocumentImport.end(document, id, next));
            }
            case "continue" -> {
                long id = number(query, "id");
                long sequence = number(query, "sequence");
                long first = number(query, "first");
                return document ->
                        Map.of("next", DocumentImport.goOn(document, id, sequence, first, attributes, values));
            }
            case "abort" -> {
                long id = number(query, "id");
                return document -> Map.of("aborted", DocumentImport.abort(document, id));
            }
            case "delete" -> {
                long id = number(query, "id");
                return document -> Map.of("deleted", DocumentImport.delete(document, id));
            }
            default ->
                throw Problem.badRequest(
                        "invalid_parameter", "step must be whole, begin, add, end, abort, continue or delete");
        }
    }

    private static Replaced replaced(@Nullable String given) {
        return switch (given == null ? "false" : given) {
            case "true" -> Replaced.ANYTHING;
            case "redirect" -> Replaced.REDIRECT;
            default -> Replaced.NOTHING;
        };
    }

    /** Performs one step of the migration of a document to another server. */
    public void move(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        Query query = exchange.request().query();
        if ("fence".equals(query.get("step"))) {
            // This step names the server to which all clients of the document are redirected.
            Gate.checkDocument(exchange.principal(), Permission.ADMIN, name);
        }
        Function<EditedDocument, Map<String, Object>> change = moving(query);
        endpoints.write(
                exchange,
                name,
                documents -> documents.write(
                        name, change, Endpoints.answering(exchange, result -> Answer.json(200, result))));
    }

    private static Function<EditedDocument, Map<String, Object>> moving(Query query) {
        String step = query.get("step");
        switch (step == null ? "" : step) {
            case "fence" -> {
                long holder = number(query, "holder");
                RedirectTarget to = RedirectTarget.parse(Objects.requireNonNullElse(query.get("to"), ""));
                return document -> {
                    DocumentInfo info = DocumentMove.fence(document, holder, to);
                    return Map.of("id", info.id(), "first", info.firstSequence(), "next", info.nextSequence());
                };
            }
            case "redirect" -> {
                long holder = number(query, "holder");
                return document ->
                        Map.of("to", DocumentMove.redirect(document, holder).text());
            }
            case "abandon" -> {
                OptionalLong holder =
                        query.get("holder") == null ? OptionalLong.empty() : OptionalLong.of(number(query, "holder"));
                return document -> Map.of("abandoned", DocumentMove.abandon(document, holder));
            }
            case "forget" -> {
                return document -> Map.of("forgotten", DocumentMove.forget(document));
            }
            default -> throw Problem.badRequest("invalid_parameter", "step must be fence, redirect, abandon or forget");
        }
    }

    private static long number(Query query, String parameter) {
        String given = query.get(parameter);
        if (given == null || !given.matches(NUMBER)) {
            throw Problem.badRequest("invalid_parameter", parameter + " must be a number, of at most 18 digits");
        }
        return Long.parseLong(given);
    }
}
