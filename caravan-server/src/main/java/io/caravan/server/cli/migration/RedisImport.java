package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.object.Digests;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.client.Endpoint;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.cli.migration.Importer.Outcome;
import io.caravan.server.cli.migration.Importer.Upload;
import io.caravan.server.document.ImportStep.Replaced;
import io.netty.util.collection.LongObjectHashMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Imports Redis lists into a server in passes. Each pass reads all lists, copies those that the server lacks, and
 * compares the others. The import ends after a pass that copies nothing, and during which nothing is written to Redis.
 * Holds a few MiB of values, and about 30 bytes for each list, in memory. Not thread-safe, except {@link #progress}.
 */
final class RedisImport implements AutoCloseable {
    private static final int SHOWN_NAMES = 5;
    private static final int MAX_TYPES = 32;
    private static final int MAX_TYPE_CHARS = 32;
    /** The pause before a pass that may be unnecessary, because the last write to Redis may not have been to a list. */
    private static final long QUIET_PAUSE_MILLIS = 200;

    /** The Redis keys of one type other than list. */
    private static final class Others {
        final List<String> first = new ArrayList<>();
        long count;
    }

    private final Existing existing;
    private final RedisLists lists;
    private final DocumentClient target;
    private final TransferTotals totals;
    private final Consumer<String> messages;
    private final Importer importer;
    /**
     * The number of the last pass that settled each list, by a hash of the list's name. Such a pass copied the list,
     * found it identical, or reported that it cannot be imported. In the last case, the number is negated.
     */
    private final LongObjectHashMap<Integer> known = new LongObjectHashMap<>();

    private final MessageDigest digest = Digests.sha256();
    /** Lists that differ from the server's documents with the same names. */
    private final List<byte[]> differing = new ArrayList<>();
    /** Keys found in this pass that are not lists, by type. */
    private final Map<String, Others> others = new TreeMap<>();

    private volatile int pass;
    private volatile long changed;
    private volatile long same;
    private boolean reportedWrites;

    RedisImport(Endpoint redis, Endpoint server, Existing existing, Consumer<String> messages) {
        this.existing = existing;
        this.messages = messages;
        this.totals = new TransferTotals(why -> {});
        this.target = DocumentClient.ofAllGroups(server);
        this.lists = new RedisLists(redis.connect(), target.maxValueBytes(), this);
        this.importer = new Importer(target, Existing.SKIP, new RateLimitRetries(messages), this::settled);
    }

    private long hash(byte[] name) {
        return ByteBuffer.wrap(digest.digest(name)).getLong();
    }

    /** Returns the number of the last pass that settled the list, negated if it was rejected; 0 if there was none. */
    private int settledIn(byte[] name) {
        Integer settled = known.get(hash(name));
        return settled == null ? 0 : settled;
    }

    private void settle(byte[] name, int state) {
        known.put(hash(name), (Integer) state);
    }

    void other(byte[] name, String type) {
        String shown = type.length() > MAX_TYPE_CHARS ? type.substring(0, MAX_TYPE_CHARS) : type;
        Others ofType =
                others.computeIfAbsent(others.size() < MAX_TYPES ? shown : "of another type", any -> new Others());
        ofType.count++;
        if (ofType.first.size() < SHOWN_NAMES) {
            ofType.first.add("'" + DocumentName.of(name) + "'");
        }
    }

    void invalid(byte[] name, String why) {
        String printable = name.length == 0 ? "" : DocumentName.of(name).toString();
        reject(name, "the list '" + printable + "' " + why);
    }

    void changed() {
        changed++;
    }

    private void settled(Upload list, Outcome outcome, String why) {
        byte[] name = list.name();
        switch (outcome) {
            case SENT -> {
                changed++;
                totals.settled(list, outcome, why);
                settle(name, pass);
            }
            case ALREADY -> {
                same++;
                if (settledIn(name) == 0) {
                    totals.count(outcome);
                }
                settle(name, pass);
            }
            case DIFFERENT -> differing.add(name);
            case EXPIRED -> totals.count(outcome);
            case REJECTED -> reject(name, why);
        }
    }

    private void reject(byte[] name, String why) {
        totals.count(Outcome.REJECTED);
        boolean reported = settledIn(name) < 0;
        settle(name, -pass);
        if (!reported) {
            messages.accept(why);
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
                importOrCompare(page);
            }
            after = lists.writes();
        }
        findLost();
    }

    /**
     * Pauses before the next pass. That pass is needed because the last write may have been to a list that had already
     * been compared.
     */
    private void waitForQuiet() {
        if (!reportedWrites) {
            reportedWrites = true;
            messages.accept("all lists were the same, but something was written to Redis while they were compared; "
                    + "the import ends after a pass without any write: stop all clients that write there");
        }
        Retries.sleep(QUIET_PAUSE_MILLIS);
    }

    private void begin() {
        pass++;
        changed = 0;
        same = 0;
        totals.reset(Outcome.DIFFERENT);
        totals.reset(Outcome.REJECTED);
        others.clear();
    }

    private void importOrCompare(Set<DocumentName> page) throws IOException {
        List<byte[]> unsettled = page.stream()
                .map(DocumentName::toBytes)
                .filter(name -> Math.abs(settledIn(name)) != pass)
                .toList();
        send(unsettled, Replaced.NOTHING);
        handleDiffering();
    }

    private void handleDiffering() throws IOException {
        List<byte[]> replaced = new ArrayList<>();
        for (byte[] name : differing) {
            if (existing == Existing.REPLACE || settledIn(name) > 0) {
                replaced.add(name);
            } else if (existing == Existing.SKIP) {
                totals.count(Outcome.DIFFERENT);
            } else {
                reject(name, "the list '" + DocumentName.of(name) + "' " + Importer.NAME_TAKEN);
            }
        }
        differing.clear();
        send(replaced, Replaced.ANYTHING);
    }

    private void send(List<byte[]> names, Replaced replaced) throws IOException {
        lists.read(names, importer.replacing(replaced));
        importer.finish();
    }

    /** Reports documents of this import that have not expired, but whose lists no longer exist. */
    private void findLost() throws IOException {
        if (known.values().stream().noneMatch(this::isLost)) {
            return;
        }
        target.scanPrefix(new byte[0], names -> {
            for (byte[] name : names) {
                if (isLost(settledIn(name)) && !hasExpired(name) && !lists.has(name)) {
                    reject(
                            name,
                            "the list '" + DocumentName.of(name)
                                    + "' was imported, and no longer exists; 'caravan rm' removes the document");
                }
            }
        });
    }

    private boolean isLost(int settled) {
        return settled > 0 && settled < pass;
    }

    /** Whether the document no longer exists, is not visible, or expires soon. */
    private boolean hasExpired(byte[] name) {
        Description document = DocumentClient.visible(target.requestDescription(name));
        return document == null || Importer.expiresSoon(document);
    }

    /** Returns the number of lists that differ from the server's documents, or cannot be documents. */
    long rejected() {
        return totals.number(Outcome.REJECTED);
    }

    String progress() {
        return String.format(
                Locale.ROOT, "pass %,d: %,d lists imported, %,d found to be the same", pass, changed, same);
    }

    void print(Output output) throws IOException {
        StringBuilder line = new StringBuilder("imported ")
                .append(totals.transferred("list"))
                .append("; in pass ")
                .append(pass)
                .append(", ")
                .append(Figures.count(same, "list"))
                .append(same == 1 ? " is the same" : " are the same")
                .append(totals.others());
        others.forEach((type, found) -> line.append("; no list: ")
                .append(Figures.count(found.count, type))
                .append(", such as ")
                .append(String.join(", ", found.first)));
        Map<String, Object> byType = new LinkedHashMap<>();
        others.forEach((type, found) -> byType.put(type, found.count));
        output.print(
                DocumentName.printable(line.toString()),
                Output.fields(totals.fields(), "passes", pass, "same", same, totals.otherFields(), "others", byType));
    }

    @Override
    public void close() {
        lists.close();
        target.close();
    }
}
