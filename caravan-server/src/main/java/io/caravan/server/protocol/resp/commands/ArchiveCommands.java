package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.server.archive.push.Archiver;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.ArchiveMark;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Access;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** What documents' copies outside of the store can be asked for. */
public final class ArchiveCommands {
    private final @Nullable Archiver archiver;

    /**
     * Commands of a server.
     *
     * @param archiver null when the server has no archive
     */
    public ArchiveCommands(@Nullable Archiver archiver) {
        this.archiver = archiver;
    }

    public List<CommandSpec> all() {
        return List.of(CommandSpec.generic("CARAVAN.ARCHIVE", 2, "Archives a document now, if it has changed.")
                .keys(FIRST)
                .access(Access.WRITE)
                .waitingInTurns(this::archive));
    }

    private Reading archive(Session session, Command command, Reading.Context context) {
        if (archiver == null) {
            throw new CommandException("ARCHIVE this server has no archive: start it with --archive");
        }
        return new Waiting(archiver.archiveNow(ListCommands.name(command)), context);
    }

    /** Answers when it is known what became of it; holds no thread meanwhile. */
    private static final class Waiting implements Reading {
        private final CompletableFuture<Archived> archived;
        private final Reading.Context context;
        private boolean left;

        Waiting(CompletableFuture<Archived> archived, Reading.Context context) {
            this.archived = archived;
            this.context = context;
        }

        @Override
        public boolean proceed() {
            if (!left) {
                left = true;
                archived.whenComplete((done, problem) -> context.wake().run());
                return false;
            }
            try {
                context.place().complete(describe(archived.join()));
            } catch (CompletionException failed) {
                throw failed.getCause() instanceof RuntimeException problem ? problem : failed;
            }
            return true;
        }

        private static Reply describe(Archived archived) {
            ArchiveMark mark = archived.mark();
            Map<String, Reply> entries = new LinkedHashMap<>();
            entries.put("generation", new Reply.Number(mark.generation()));
            entries.put("first", new Reply.Number(mark.firstSequence()));
            entries.put("next", new Reply.Number(mark.nextSequence()));
            entries.put("taken-at-ms", new Reply.Number(mark.takenAtMillis()));
            entries.put("uploaded", new Reply.Bool(archived.uploaded()));
            return new Reply.Fields(entries);
        }
    }
}
