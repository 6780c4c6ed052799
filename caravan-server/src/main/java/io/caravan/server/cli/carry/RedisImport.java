package io.caravan.server.cli.carry;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.StoreConfig;
import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.carry.Importer.Outcome;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.DocumentClient.Names;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Progress;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * Imports Redis lists into a server in passes. Each pass reads all lists, copies those that the server lacks, and
 * compares the rest. The import ends after a pass that copies nothing, and during which nothing is written to Redis.
 * Memory holds a few MiB of values, and about 30 bytes for each list. Not thread-safe, except {@link #progress}.
 */
final class RedisImport implements AutoCloseable {
    private static final int TOLD_NAMES = 5;
    private static final int MAX_TYPES = 32;
    private static final int MAX_TYPE_CHARS = 32;
    /** The pause before a pass that may be unnecessary, because the last write to Redis may not have been to a list. */
    private static final long QUIET_PAUSE_MILLIS = 200;

    /** The state of a list. */
    private enum Known {
        /** The list was copied, or found to be identical, in this pass or in an earlier one. */
        SAME_NOW,
        SAME_EARLIER,
        /** The list was reported as impossible to import. */
        UNFIT_NOW,
        UNFIT_EARLIER;

        Known earlier() {
            return this == SAME_NOW ? SAME_EARLIER : this == UNFIT_NOW ? UNFIT_EARLIER : this;
        }

        boolean isNow() {
            return this == SAME_NOW || this == UNFIT_NOW;
        }

        boolean isSame() {
            return this == SAME_NOW || this == SAME_EARLIER;
        }
    }

    /** Keys of one type other than list. */
    private static final class Others {
        final List<String> first = new ArrayList<>();
        long count;
    }

    private final ServerConnection.Connector server;
    private final Existing existing;
    private final Consumer<String> tell;
    private final RedisLists lists;
    private final Importer bringing;
    private final Importer renewing;
    private final Importer comparing;
    /** The state of each list, by a hash of its name. */
    private final LongObjectHashMap<Known> known = new LongObjectHashMap<>();

    private final MessageDigest digest = sha256();
    /** Lists that differ from the server's documents of the same names. */
    private final List<byte[]> differing = new ArrayList<>();
    /** Keys found in this pass that are not lists, by type. */
    private final Map<String, Others> others = new TreeMap<>();

    private volatile long pass;
    private volatile long changed;
    private volatile long same;
    private boolean toldOfWrites;
    private long already;
    private long skipped;
    private long expired;
    private long refused;

    /**
     * Creates an import into a server.
     *
     * @param existing the handling of a list whose name belongs to a document from another source
     * @param tell receives messages about lists that cannot be imported
     */
    RedisImport(
            ServerConnection.Connector redis,
            ServerConnection.Connector server,
            Existing existing,
            Consumer<String> tell)
            throws IOException {
        this.server = server;
        this.existing = existing;
        this.tell = tell;
        Progress silent = new Progress(new PrintWriter(PrintWriter.nullWriter()), false, "");
        int maxValueBytes = maxValueBytes(server);
        this.lists = new RedisLists(redis.connect(), maxValueBytes, new Finding());
        this.bringing = new Importer(new RespDocumentClient(server), Existing.SKIP, true, this::settled, silent);
        this.renewing = new Importer(new RespDocumentClient(server), Existing.REPLACE, false, this::settled, silent);
        this.comparing = Importer.comparing(new RespDocumentClient(server), this::settled, silent);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException everyJavaHasIt) {
            throw new IllegalStateException(everyJavaHasIt);
        }
    }

    /** Returns the maximum length of a value at the server. */
    static int maxValueBytes(ServerConnection.Connector server) throws IOException {
        try (ServerConnection connection = server.connect()) {
            return (int) connection.info().number("max_value_bytes").orElse(StoreConfig.MAX_VALUE_BYTES);
        }
    }

    private long hash(byte[] name) {
        return ByteBuffer.wrap(digest.digest(name)).getLong();
    }

    /** Receives the reader's findings, except readable lists. */
    private final class Finding implements RedisLists.Findings {
        @Override
        public void other(byte[] name, String type) {
            String told = type.length() > MAX_TYPE_CHARS ? type.substring(0, MAX_TYPE_CHARS) : type;
            Others ofType =
                    others.computeIfAbsent(others.size() < MAX_TYPES ? told : "of another type", any -> new Others());
            ofType.count++;
            if (ofType.first.size() < TOLD_NAMES) {
                ofType.first.add("'" + DocumentName.of(name) + "'");
            }
        }

        @Override
        public void unfit(byte[] name, String why) {
            refuse(name, "the list '" + printable(name) + "' " + why);
        }

        @Override
        public void moving(byte[] name) {
            changed++;
        }
    }

    private static String printable(byte[] name) {
        return name.length == 0 ? "" : DocumentName.of(name).toString();
    }

    /** Receives the outcome for a list from an importer. */
    private void settled(byte[] name, Outcome outcome, String why) {
        switch (outcome) {
            case BROUGHT -> {
                changed++;
                known.put(hash(name), Known.SAME_NOW);
            }
            case ALREADY -> {
                same++;
                Known before = known.put(hash(name), Known.SAME_NOW);
                already += before == null ? 1 : 0;
            }
            case SKIPPED -> differing.add(name);
            case EXPIRED -> expired++;
            case REJECTED -> refuse(name, why);
        }
    }

    private void refuse(byte[] name, String why) {
        refused++;
        Known before = known.put(hash(name), Known.UNFIT_NOW);
        if (before != Known.UNFIT_EARLIER) {
            tell.accept(why);
        }
    }

    /** Imports all lists; returns when all have been compared. */
    void run() throws IOException {
        String before = "";
        String after = lists.writes();
        while (changed > 0 || !after.equals(before)) {
            if (pass > 0 && changed == 0) {
                waitForQuiet();
            }
            before = after;
            begin();
            for (Set<DocumentName> page = lists.scan(); page != null; page = lists.scan()) {
                bring(page);
            }
            after = lists.writes();
        }
        findLost();
    }

    /**
     * Pauses before the next pass, which is needed because the write may have been to a list that had already been
     * compared.
     */
    private void waitForQuiet() {
        if (!toldOfWrites) {
            toldOfWrites = true;
            tell.accept("all lists were the same, but something was written to the Redis while they were compared; "
                    + "the import ends after a pass without any write: stop all clients that write there");
        }
        try {
            Retries.Pause.REAL.millis(QUIET_PAUSE_MILLIS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw ClientException.failed("interrupted", stop);
        }
    }

    private void begin() {
        pass++;
        changed = 0;
        same = 0;
        skipped = 0;
        refused = 0;
        others.clear();
        known.replaceAll((hash, state) -> state.earlier());
    }

    private void bring(Set<DocumentName> page) throws IOException {
        List<byte[]> unknown = new ArrayList<>();
        List<byte[]> old = new ArrayList<>();
        for (DocumentName each : page) {
            byte[] name = each.toBytes();
            Known state = known.get(hash(name));
            if (state == null || !state.isNow()) {
                (state != null && state.isSame() ? old : unknown).add(name);
            }
        }
        lists.read(unknown, bringing);
        bringing.finish();
        lists.read(old, comparing);
        comparing.finish();
        renew();
    }

    private void renew() throws IOException {
        List<byte[]> renewed = new ArrayList<>();
        for (byte[] name : differing) {
            Known state = known.get(hash(name));
            if (existing == Existing.REPLACE || (state != null && state.isSame())) {
                renewed.add(name);
            } else if (existing == Existing.SKIP) {
                skipped++;
            } else {
                refuse(
                        name,
                        "the list '" + DocumentName.of(name)
                                + "' was not imported: there is another document of this name,"
                                + " which --existing replace replaces");
            }
        }
        differing.clear();
        lists.read(renewed, renewing);
        renewing.finish();
    }

    /** Reports documents of this import whose lists no longer exist, although they have not expired. */
    private void findLost() throws IOException {
        if (known.values().stream().noneMatch(state -> state == Known.SAME_EARLIER)) {
            return;
        }
        try (DocumentClient carrier = new RespDocumentClient(server)) {
            Names names = Names.before();
            do {
                names = carrier.scan(names, new byte[0]);
                for (byte[] name : names.names()) {
                    if (known.get(hash(name)) == Known.SAME_EARLIER && !hasExpired(carrier, name) && !lists.has(name)) {
                        refuse(
                                name,
                                "the list '" + DocumentName.of(name)
                                        + "' was imported, and is no more; 'caravan rm' removes the document");
                    }
                }
            } while (!names.last());
        }
    }

    /** Whether the document no longer exists, is not visible, or expires soon. */
    private static boolean hasExpired(DocumentClient carrier, byte[] name) {
        carrier.askDescription(name);
        try {
            Description document = carrier.description();
            return document == null || PendingImport.expiresSoon(document);
        } catch (ClientException invisible) {
            if (!invisible.isOtherState()) {
                throw invisible;
            }
            return true;
        }
    }

    /** Returns the number of lists that differ from the server's documents, or cannot be documents. */
    long refused() {
        return refused;
    }

    /** Formats the progress; callable from any thread. */
    String progress() {
        return String.format(Locale.ROOT, "pass %,d: %,d lists brought, %,d found to be the same", pass, changed, same);
    }

    private long sum(ToLongFunction<TransferTotals> figure) {
        return figure.applyAsLong(bringing.totals()) + figure.applyAsLong(renewing.totals());
    }

    String line() {
        StringBuilder line = new StringBuilder("imported ")
                .append(Figures.count(sum(TransferTotals::documents), "list"))
                .append(", ")
                .append(Figures.count(sum(TransferTotals::values), "value"))
                .append(", ")
                .append(Figures.size(sum(TransferTotals::bytes)))
                .append("; in pass ")
                .append(pass)
                .append(", ")
                .append(Figures.count(same, "list"))
                .append(same == 1 ? " is the same" : " are the same")
                .append(Importer.some(already, "were there already"))
                .append(Importer.some(skipped, "skipped"))
                .append(Importer.some(expired, "had expired"))
                .append(Importer.some(refused, "rejected"));
        others.forEach((type, found) -> line.append("; no list: ")
                .append(Figures.count(found.count, type))
                .append(", such as ")
                .append(String.join(", ", found.first)));
        return DocumentName.printable(line.toString());
    }

    void write(JsonGenerator json) throws IOException {
        json.writeNumberField("documents", sum(TransferTotals::documents));
        json.writeNumberField("values", sum(TransferTotals::values));
        json.writeNumberField("bytes", sum(TransferTotals::bytes));
        json.writeNumberField("passes", pass);
        json.writeNumberField("same", same);
        json.writeNumberField("already", already);
        json.writeNumberField("skipped", skipped);
        json.writeNumberField("expired", expired);
        json.writeNumberField("rejected", refused);
        json.writeObjectFieldStart("others");
        for (Map.Entry<String, Others> type : others.entrySet()) {
            json.writeNumberField(type.getKey(), type.getValue().count);
        }
        json.writeEndObject();
    }

    @Override
    public void close() {
        lists.close();
        bringing.close();
        renewing.close();
        comparing.close();
    }
}
