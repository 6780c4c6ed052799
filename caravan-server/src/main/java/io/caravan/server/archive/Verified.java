package io.caravan.server.archive;

import java.util.ArrayList;
import java.util.List;

/** What was found of one name, or of several. For one thread at a time. */
final class Verified {
    final List<String> faults = new ArrayList<>();
    long documents;
    long deleted;
    long generations;
    long bytes;
    long faultCount;
    long leftovers;
    long leftoverBytes;
    long unknown;

    void fault(RuntimeException problem) {
        faults.add(String.valueOf(problem.getMessage()));
        faultCount++;
    }

    /** Adds the numbers, not the messages. */
    void add(Verified other) {
        documents += other.documents;
        deleted += other.deleted;
        generations += other.generations;
        bytes += other.bytes;
        faultCount += other.faultCount;
        leftovers += other.leftovers;
        leftoverBytes += other.leftoverBytes;
        unknown += other.unknown;
    }

    VerificationReport report() {
        return new VerificationReport(
                documents, deleted, generations, bytes, faultCount, leftovers, leftoverBytes, unknown);
    }
}
