package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.generic;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.list;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.archive.restore.Restored;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandGate;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.ResumableRead;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.security.Permission;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The commands that archive documents, and restore them from the archive. */
public final class ArchiveCommands {
    private final @Nullable Archiver archiver;
    private final @Nullable RestoreService restores;

    /**
     * Creates the commands of a server.
     *
     * @param archiver null if the server has no archive
     * @param restores null if the server has no archive
     */
    public ArchiveCommands(@Nullable Archiver archiver, @Nullable RestoreService restores) {
        this.archiver = archiver;
        this.restores = restores;
    }

    public List<CommandSpec> all() {
        return List.of(
                generic("CARAVAN.ARCHIVE", 2, FIRST, "", "Archives a document now, if it has changed.")
                        .access(Access.WRITE)
                        .waitingInTurns(this::archive),
                list("CARAVAN.RESTORE", -2, FIRST, "write denyoom", "Restores a document from the archive.")
                        .access(Access.READ_AND_WRITE)
                        .waitingInTurns(this::restore));
    }

    private static <T> T required(@Nullable T part) {
        if (part == null) {
            throw new CommandException("ARCHIVE this server has no archive: start it with --archive");
        }
        return part;
    }

    private ResumableRead archive(Session session, Command command, ResumableRead.Context context) {
        CompletableFuture<Archived> archived = required(archiver).archiveNow(ListCommands.name(command));
        return new LongOperation<Archived>(
                outcome -> archived.whenComplete((done, problem) -> {
                    if (problem == null) {
                        outcome.success(done);
                    } else {
                        outcome.failure(
                                problem instanceof RuntimeException known ? known : new CompletionException(problem));
                    }
                }),
                ArchiveCommands::describe,
                context);
    }

    private static Reply describe(Archived archived) {
        ArchiveMark mark = archived.mark();
        return Reply.Fields.of(
                "generation", mark.generation(),
                "first", mark.firstSequence(),
                "next", mark.nextSequence(),
                "taken-at-ms", mark.takenAtMillis(),
                "uploaded", archived.uploaded());
    }

    private ResumableRead restore(Session session, Command command, ResumableRead.Context context) {
        RestoreOptions options = RestoreOptions.of(command);
        if (options.generation().isPresent()) {
            // Restoring a chosen generation may undo writes of other users.
            CommandGate.require(session.principal(), Permission.ADMIN, "caravan.restore at");
        }
        RestoreService service = required(restores);
        DocumentName name = ListCommands.name(command);
        DocumentName as = options.as();
        if (as != null) {
            if (as.equals(name)) {
                throw new CommandException("ERR AS must name another document than the one that is restored");
            }
            CommandGate.require(session.principal(), Permission.WRITE, as);
        }
        return new LongOperation<Restored>(
                outcome -> {
                    context.checkStillKnown();
                    service.restoreApart(name, options.generation(), as, outcome);
                },
                ArchiveCommands::describe,
                context);
    }

    private static Reply describe(Restored restored) {
        return Reply.Fields.of(
                "first", restored.firstSequence(),
                "next", restored.nextSequence(),
                "added", restored.added(),
                "generation", restored.generation().number());
    }

    /**
     * The options of a restore command, which follow the name.
     *
     * @param generation the generation to restore; empty for the latest
     * @param as the name under which to restore the document; null for its own name
     */
    private record RestoreOptions(
            OptionalLong generation, @Nullable DocumentName as) {
        static RestoreOptions of(Command command) {
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
            return new RestoreOptions(generation, as);
        }
    }
}
