package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.CommandSpec.server;

import io.caravan.server.config.HostPort;
import io.caravan.server.protocol.resp.CommandSpec.Access;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The most recent slow commands ({@code SLOWLOG}), with the time from request to reply. Thread-safe. */
public final class SlowLog {
    /** Minimum duration of a command that counts as slow. */
    static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Maximum number of entries. The oldest entry is removed first. */
    static final int MAX_ENTRIES = 128;
    /** Maximum number of words in an entry, as in Redis. */
    private static final int MAX_WORDS = 32;
    /** Maximum length of a word in an entry, as in Redis. */
    private static final int MAX_WORD_BYTES = 128;

    private static final int USUAL_COUNT = 10;

    private final InstantSource clock;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private long nextId;
    private final Subcommands subcommands = new Subcommands("SLOWLOG")
            .add("GET", "[count]", 0, 1, (session, command) -> newest(command))
            .add("LEN", "", 0, 0, (session, command) -> length())
            .add("RESET", "", 0, 0, (session, command) -> reset());

    /** A slow command. Formatted only when a client asks for it, because every command is slow under a heavy load. */
    private record Entry(long id, long startedSeconds, long nanos, Reply words, SocketAddress client, String name) {
        Reply reply() {
            long micros = TimeUnit.NANOSECONDS.toMicros(nanos);
            return Reply.Array.of(id, startedSeconds, micros, words, HostPort.format(client), name);
        }
    }

    /** Creates an empty log; {@code clock} provides the times of the entries. */
    public SlowLog(InstantSource clock) {
        this.clock = clock;
    }

    public List<CommandSpec> all() {
        return List.of(server("SLOWLOG", -2, NONE, "", "Returns the most recent slow commands.")
                .access(Access.ADMIN)
                .immediate(subcommands::run));
    }

    /**
     * Records a finished command if it was slow. Does not record blocking commands, because clients choose their
     * waiting times.
     */
    public void done(Session session, CommandSpec spec, Command command, long nanos) {
        if (nanos < SLOW_NANOS || spec.flags().contains("blocking")) {
            return;
        }
        Reply words = spec.access() == Access.FREE
                ? Reply.Array.of(spec.lowerName(), "(redacted)")
                : new Reply.Array(words(command));
        long startedSeconds = TimeUnit.MILLISECONDS.toSeconds(clock.millis() - TimeUnit.NANOSECONDS.toMillis(nanos));
        add(startedSeconds, nanos, words, session);
    }

    private synchronized void add(long startedSeconds, long nanos, Reply words, Session session) {
        if (entries.size() == MAX_ENTRIES) {
            entries.removeLast();
        }
        entries.addFirst(new Entry(nextId++, startedSeconds, nanos, words, session.remote, session.name));
    }

    private static List<Reply> words(Command command) {
        boolean all = command.size() <= MAX_WORDS;
        List<Reply> words = new ArrayList<>();
        for (int i = 0; i < (all ? command.size() : MAX_WORDS - 1); i++) {
            words.add(new Reply.Bulk(cut(command.word(i))));
        }
        if (!all) {
            words.add(Reply.Bulk.of("... (" + (command.size() - MAX_WORDS + 1) + " more arguments)"));
        }
        return words;
    }

    private static byte[] cut(byte[] word) {
        if (word.length <= MAX_WORD_BYTES) {
            return word;
        }
        byte[] more = ("... (" + (word.length - MAX_WORD_BYTES) + " more bytes)").getBytes(StandardCharsets.US_ASCII);
        byte[] cut = Arrays.copyOf(word, MAX_WORD_BYTES + more.length);
        System.arraycopy(more, 0, cut, MAX_WORD_BYTES, more.length);
        return cut;
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
