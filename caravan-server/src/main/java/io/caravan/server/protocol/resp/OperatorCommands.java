package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.CommandSpec.generic;
import static io.caravan.server.protocol.resp.CommandSpec.list;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.archive.restore.Restored;
import io.caravan.server.backup.Backups;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Permission;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The commands for operators: they archive and restore documents, back up the store, and manage spaces.
 *
 * @param restores null if the server has no archive
 */
record OperatorCommands(ServerStatus status, @Nullable RestoreService restores) {
    List<CommandSpec> all() {
        return List.of(
                generic("CARAVAN.ARCHIVE", 2, FIRST, "", "Archives a document now, if it has changed.")
                        .needs(Permission.WRITE)
                        .waitingInTurns(this::archive),
                list("CARAVAN.RESTORE", -2, FIRST, "write denyoom", "Restores a document from the archive.")
                        .needs(Permission.READ, Permission.WRITE)
                        .waitingInTurns(this::restore),
                server(
                                "CARAVAN.BACKUP",
                                2,
                                "",
                                "Copies the store to a directory, and replies when the copy is complete.")
                        .needs(Permission.ADMIN)
                        .waitingInTurns(this::backup),
                server("CARAVAN.SPACE", -2, "", "Sets, returns, lists, and removes the settings of spaces.")
                        .needs(Permission.ADMIN)
                        .waiting(new Subcommands()
                                .add(
                                        "SET prefix setting value [setting value ...]",
                                        3,
                                        Integer.MAX_VALUE,
                                        (session, command) -> described(
                                                spaces().set(prefix(command), before -> changed(before, command))))
                                .add("GET prefix", 1, (session, command) -> described(spaces().get(prefix(command))))
                                .add(
                                        "LIST",
                                        0,
                                        (session, command) -> new Reply.Array(spaces().all().stream()
                                                .map(OperatorCommands::described)
                                                .toList()))
                                .add(
                                        "REMOVE prefix",
                                        1,
                                        (session, command) ->
                                                new Reply.Number(spaces().remove(prefix(command)) ? 1 : 0))));
    }

    private static <T> T required(@Nullable T part) {
        if (part == null) {
            throw new CommandException("ARCHIVE this server has no archive: start it with --archive");
        }
        return part;
    }

    private ResumableRead archive(PendingReply place) {
        CompletableFuture<Archived> archived =
                required(status.archiver()).archiveNow(place.command().name());
        return ResumableRead.<Archived>ofOperation(
                place,
                outcome -> archived.whenComplete((done, problem) -> {
                    if (problem == null) {
                        outcome.success(done);
                    } else {
                        outcome.failure(
                                problem instanceof RuntimeException known ? known : new CompletionException(problem));
                    }
                }),
                OperatorCommands::describe);
    }

    private static Reply describe(Archived archived) {
        ArchiveMark mark = archived.mark();
        return Reply.map(
                "generation", mark.generation(),
                "first", mark.firstSequence(),
                "next", mark.nextSequence(),
                "taken-at-ms", mark.takenAtMillis(),
                "uploaded", archived.uploaded());
    }

    /** Restores a document from a generation, or the latest one, under its name or another one. */
    private ResumableRead restore(PendingReply place) {
        Session session = place.session;
        Command command = place.command();
        DocumentName name = command.name();
        OptionalLong generation = OptionalLong.empty();
        DocumentName as = null;
        for (int i = 2; i < command.size(); i += 2) {
            boolean given = i + 1 < command.size();
            if (given && command.is(i, "AT") && generation.isEmpty()) {
                generation = OptionalLong.of(command.count(i + 1));
            } else if (given && command.is(i, "AS") && as == null) {
                as = DocumentName.of(command.word(i + 1));
            } else {
                throw CommandException.syntax();
            }
        }
        if (generation.isPresent()) {
            // Restoring a chosen generation may undo writes of other users.
            session.require(Permission.ADMIN, "caravan.restore at");
        }
        RestoreService service = required(restores);
        if (as != null) {
            if (as.equals(name)) {
                throw new CommandException("ERR AS must name another document than the one that is restored");
            }
            session.require(Permission.WRITE, as);
        }
        OptionalLong chosen = generation;
        DocumentName other = as;
        return ResumableRead.<Restored>ofOperation(
                place, outcome -> service.restoreApart(name, chosen, other, outcome), OperatorCommands::describe);
    }

    private static Reply describe(Restored restored) {
        return Reply.map(
                "first", restored.firstSequence(),
                "next", restored.nextSequence(),
                "added", restored.added(),
                "generation", restored.generation().number());
    }

    private ResumableRead backup(PendingReply place) {
        String name = place.command().text(1);
        return ResumableRead.<Backups.Made>ofOperation(
                place, outcome -> status.backups().start(name, outcome), OperatorCommands::describe);
    }

    private static Reply describe(Backups.Made made) {
        return Reply.map(
                "path", made.path().toString(),
                "files", made.report().files(),
                "bytes", made.report().bytes(),
                "lsn", made.report().lsn(),
                "millis", made.millis());
    }

    private static SpaceSettings changed(SpaceSettings before, Command command) {
        SpaceSettings after = before;
        for (int i = 3; i < command.size(); i += 2) {
            if (i + 1 == command.size()) {
                throw CommandException.syntax();
            }
            SpaceSetting setting = SpaceSetting.of(command.lower(i));
            boolean word = setting.unit() == SpaceSetting.Unit.WORD;
            after = after.with(setting, word ? setting.number(command.lower(i + 1)) : command.count(i + 1));
        }
        return after;
    }

    private Spaces spaces() {
        return status.documents().spaces();
    }

    private static Prefix prefix(Command command) {
        return Prefix.of(command.word(2));
    }

    private static Reply described(@Nullable Space space) {
        if (space == null) {
            return Reply.Null.BULK;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("prefix", space.prefix().toBytes());
        fields.putAll(space.settings().shown());
        fields.putAll(Reply.components(space.status()));
        return Reply.of(fields);
    }
}
