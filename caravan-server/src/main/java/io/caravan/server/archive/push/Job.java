package io.caravan.server.archive.push;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.server.document.Deletion;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done about one name: archive the document that has it, if it has changed, and the deletions of those
 * that had it. While it waits it is the queue's, under its lock; while it is in hand, its worker's.
 */
final class Job {
    private final DocumentName name;
    private final Map<Deletion, Survey.Place> deletions = new LinkedHashMap<>();
    private final List<CompletableFuture<Archived>> requests = new ArrayList<>();
    private Survey.@Nullable Place place;
    private int failures;
    private boolean puttingOff;
    private long successesAtFirstFailure;
    /** What came in for the name while it was in hand; the queue's. */
    private @Nullable Job next;

    Job(DocumentName name) {
        this.name = name;
    }

    DocumentName name() {
        return name;
    }

    /** Where the survey counts the document, or null when no look has found it changed. */
    Survey.@Nullable Place place() {
        return place;
    }

    void place(Survey.Place counted) {
        place = counted;
    }

    /** Deletions of documents of this name that the archive does not know, oldest first, and where they are counted. */
    Map<Deletion, Survey.Place> deletions() {
        return deletions;
    }

    void add(Deletion deletion, Survey.Place counted) {
        deletions.put(deletion, counted);
    }

    void add(CompletableFuture<Archived> request) {
        requests.add(request);
    }

    /** Whether somebody waits for an answer. */
    boolean requested() {
        return !requests.isEmpty();
    }

    /** Answers those who wait. */
    void answer(Archived archived) {
        requests.forEach(request -> request.complete(archived));
        requests.clear();
    }

    /** Tells those who wait that it has failed, though it may be tried again. */
    void fail(Throwable problem) {
        requests.forEach(request -> request.completeExceptionally(problem));
        requests.clear();
    }

    /** Takes away those who wait; whoever calls this answers them. */
    List<CompletableFuture<Archived>> withdrawRequests() {
        List<CompletableFuture<Archived>> withdrawn = List.copyOf(requests);
        requests.clear();
        return withdrawn;
    }

    /** Whether it may be put off: once. */
    boolean putOff() {
        boolean first = !puttingOff;
        puttingOff = true;
        return first;
    }

    /**
     * Counts a failure.
     *
     * @param successes how often anything has succeeded so far
     * @return whether it has failed several times while others succeeded
     */
    boolean failedAlone(long successes, int patience) {
        if (failures == 0) {
            successesAtFirstFailure = successes;
        }
        failures++;
        return failures >= patience && successes != successesAtFirstFailure;
    }

    @Nullable
    Job next() {
        return next;
    }

    /** What to do once this is done; made when it is first asked for. */
    Job makeNext() {
        if (next == null) {
            next = new Job(name);
        }
        return next;
    }

    /** Takes over what came in meanwhile, to be done together. */
    void absorbNext() {
        if (next != null) {
            deletions.putAll(next.deletions);
            requests.addAll(next.requests);
            place = next.place == null ? place : next.place;
            next = null;
        }
    }
}
