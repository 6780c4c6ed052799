package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.server.config.HostPort;
import io.caravan.server.protocol.resp.ReplyQueue.PendingReply;
import io.caravan.server.security.Permission;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The most recent slow commands ({@code SLOWLOG}), with the time from request to reply. Thread-safe. */
final class SlowLog {
    /** Minimum duration of a command that counts as slow. */
    static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Maximum number of entries. The oldest entry is removed first. */
    static final int MAX_ENTRIES = 128;
    /** Maximum number of words in an entry, as in Redis. */
    private static final int MAX_WORDS = 32;
    /** Maximum length of a word in an entry, as in Redis. */
    private static final int MAX_WORD_BYTES = 128;

    private static final int USUAL_COUNT = 10;

    private final Deque<Entry> entries = new ArrayDeque<>();
    private long nextId;

    /** A slow command. Formatted only when a client asks for it, because every command is slow under a heavy load. */
    private record Entry(long id, long startedSeconds, long nanos, Reply words, SocketAddress client, String name) {
        Reply reply() {
            long micros = TimeUnit.NANOSECONDS.toMicros(nanos);
            return Reply.Array.of(id, startedSeconds, micros, words, HostPort.format(client), name);
        }
    }

    List<CommandSpec> all() {
        return List.of(server("SLOWLOG", -2, "", "Returns the most recent slow commands.")
                .needs(Permission.ADMIN)
                .immediate(new Subcommands()
                        .add("GET [count]", 0, 1, (session, command) -> newest(command))
                        .add("LEN", 0, (session, command) -> length())
                        .add("RESET", 0, (session, command) -> reset())));
    }

    /**
     * Records a slow command that has finished. Does not record blocking commands, because clients choose their waiting
     * times, nor requests that are malformed or name no command.
     */
    void add(PendingReply request, long nanos) {
        CommandSpec spec = request.spec;
        if (spec == CommandSpec.UNKNOWN || spec.blocks()) {
            return;
        }
        Session session = request.session;
        Reply words =
                spec.free ? Reply.Array.of(spec.lowerName, "(redacted)") : new Reply.Array(words(request.command()));
        long startedSeconds =
                TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(nanos));
        synchronized (this) {
            if (entries.size() == MAX_ENTRIES) {
                entries.removeLast();
            }
            entries.addFirst(new Entry(nextId++, startedSeconds, nanos, words, session.remote, session.name));
        }
    }

    private static List<Reply> words(Command command) {
        boolean all = command.size() <= MAX_WORDS;
        List<Reply> words = new ArrayList<>();
        for (int i = 0; i < (all ? command.size() : MAX_WORDS - 1); i++) {
            words.add(cut(command.word(i)));
        }
        if (!all) {
            words.add(Reply.Bulk.of("... (" + (command.size() - MAX_WORDS + 1) + " more arguments)"));
        }
        return words;
    }

    private static Reply cut(byte[] word) {
        if (word.length <= MAX_WORD_BYTES) {
            return new Reply.Bulk(word);
        }
        byte[] more = ("... (" + (word.length - MAX_WORD_BYTES) + " more bytes)").getBytes(StandardCharsets.US_ASCII);
        byte[] cut = Arrays.copyOf(word, MAX_WORD_BYTES + more.length);
        System.arraycopy(more, 0, cut, MAX_WORD_BYTES, more.length);
        return new Reply.Bulk(cut);
    }

    private Reply newest(Command command) {
        long count = command.size() == 3 ? command.number(2) : USUAL_COUNT;
        synchronized (this) {
            return new Reply.Array(entries.stream()
                    .limit(count < 0 ? MAX_ENTRIES : count)
                    .map(Entry::reply)
                    .toList());
        }
    }

    private synchronized Reply length() {
        return new Reply.Number(entries.size());
    }

    private synchronized Reply reset() {
        entries.clear();
        return Reply.OK;
    }
}
