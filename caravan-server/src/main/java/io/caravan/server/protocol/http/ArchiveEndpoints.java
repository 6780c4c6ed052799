package io.caravan.server.protocol.http;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.restore.Drills;
import io.caravan.server.archive.restore.Hydration;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.archive.restore.Restored;
import io.caravan.server.document.Outcome;
import io.caravan.server.security.Permission;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The endpoints that describe the archive, and restore documents by the same rules as {@code CARAVAN.RESTORE}. */
final class ArchiveEndpoints {
    private static final int MAX_GENERATIONS = 1_000;

    private ArchiveEndpoints() {}

    /**
     * Returns the progress of the archive, the result of the last drill, and the number of documents fetched on demand.
     * A part that does not exist is null.
     */
    static Response status(HttpExchange exchange) {
        RestoreService restores = exchange.protocol.served().restores();
        Drills drills = restores == null ? null : restores.drills();
        Hydration hydration = restores == null ? null : restores.hydration();
        return Response.json(
                200,
                Response.fields(
                        "archive",
                        exchange.protocol.archive(),
                        "drills",
                        drills == null ? null : Response.fields("failures", drills.failures(), "last", drills.last()),
                        "hydration",
                        hydration == null
                                ? null
                                : Response.fields(
                                        "documents", hydration.hydrated(),
                                        "failures", hydration.failures(),
                                        "waiting", hydration.fetching())));
    }

    /** Returns the generations of a document in the archive, newest first. */
    static void generations(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        service(exchange).manifestApart(name, reporting(exchange, found -> Response.json(200, kept(name, found))));
    }

    private static Map<String, Object> kept(DocumentName name, Optional<Manifest> found) {
        Manifest manifest = found.orElseThrow(() -> new Problem(
                404, "not_archived", "the archive has nothing of document '" + name + "': it was never archived"));
        Manifest.Tombstone tombstone = manifest.tombstone();
        String deletedAt = tombstone == null ? null : Response.rfc3339(tombstone.deletedAtMillis());
        List<Generation> newestFirst = new ArrayList<>(manifest.generations());
        Collections.reverse(newestFirst);
        List<?> generations = newestFirst.stream()
                .limit(MAX_GENERATIONS)
                .map(ArchiveEndpoints::described)
                .toList();
        return Response.fields("name", name.text(), "deletedAt", deletedAt, "generations", generations);
    }

    private static Map<String, Object> described(Generation generation) {
        return Response.fields(
                "number", generation.number(),
                "takenAt", Response.rfc3339(generation.takenAtMillis()),
                "firstOffset", Offset.of(generation.firstSequence()),
                "nextOffset", Offset.of(generation.nextSequence()),
                "values", generation.count(),
                "valueBytes", generation.valueBytes(),
                "objectBytes", generation.objectBytes());
    }

    /**
     * Restores a document, under another name if one is given. By default, restores those values of the latest
     * generation that the document lacks. Choosing a generation requires {@code ADMIN}, because the restore may then
     * undo writes of other users.
     */
    static void restore(HttpExchange exchange) {
        DocumentName name = exchange.documentName();
        Request request = exchange.request;
        exchange.require(Permission.READ, name);
        OptionalLong generation = request.parameter("generation") == null
                ? OptionalLong.empty()
                : OptionalLong.of(request.numberParameter("generation", 0));
        if (generation.isPresent()) {
            exchange.require(Permission.ADMIN, name);
        }
        DocumentName as = as(exchange, name, request.parameter("as"));
        service(exchange).restoreApart(name, generation, as, reporting(exchange, ArchiveEndpoints::restored));
    }

    private static @Nullable DocumentName as(HttpExchange exchange, DocumentName name, @Nullable String given) {
        if (given == null) {
            return null;
        }
        DocumentName as = DocumentName.of(given.getBytes(StandardCharsets.UTF_8));
        Problem.require(
                !as.equals(name), "invalid_parameter", "as must name another document than the one that is restored");
        exchange.require(Permission.WRITE, as);
        return as;
    }

    private static Response restored(Restored restored) {
        return Response.json(
                200,
                Response.fields(
                        "path", StreamName.path(restored.name()),
                        "generation", restored.generation().number(),
                        "added", restored.added(),
                        "firstOffset", Offset.of(restored.firstSequence()),
                        "nextOffset", Offset.of(restored.nextSequence())));
    }

    private static RestoreService service(HttpExchange exchange) {
        RestoreService restores = exchange.protocol.served().restores();
        if (restores == null) {
            throw new Problem(404, "no_archive", "this server has no archive: start it with --archive");
        }
        return restores;
    }

    private static <T> Outcome<T> reporting(HttpExchange exchange, Function<T, Response> response) {
        return Outcome.of(
                result -> exchange.run(() -> exchange.respond(response.apply(result))),
                problem -> exchange.fail(translated(problem)));
    }

    /** Converts an error caused by the contents of the archive into a problem, and returns other errors unchanged. */
    private static RuntimeException translated(RuntimeException problem) {
        if (problem instanceof ArchiveException rejected) {
            int status = switch (rejected.reason()) {
                case DELETED, DIVERGED -> 409;
                case NOT_FOUND -> 404;
                case CORRUPT, VERSION, FOREIGN, FENCED, FULL -> 503;
            };
            return status == 503 ? problem : Problem.of(status, rejected.reason(), rejected);
        }
        return problem;
    }
}
