package io.caravan.torture.group;

import io.caravan.torture.round.RoundSummary;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Summarizes all rounds of a Raft group. */
final class GroupSummary extends RoundSummary {
    private final Map<GroupFault, Integer> faults = new EnumMap<>(GroupFault.class);
    int comparisons;
    private long kills;
    private long acknowledged;
    private long unknown;
    private long reads;
    long longestReturnMillis;
    int endedByThemselves;

    void fault(GroupFault fault, int killed) {
        faults.merge(fault, 1, Integer::sum);
        kills += killed;
    }

    void writer(GroupWriter writer) {
        acknowledged += writer.acknowledged();
        unknown += writer.unknown();
    }

    void reader(GroupReader reader) {
        reads += reader.reads();
    }

    long acknowledged() {
        return acknowledged;
    }

    long reads() {
        return reads;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d rounds with %s, %d processes killed, %d ended by themselves as their disks were sick%n"
                        + "%,d changes acknowledged, %,d of unknown fate; %,d linearizable reads; all replicas compared %d times; the group came"
                        + " back within %,d ms%n%s",
                rounds(),
                faults,
                kills,
                endedByThemselves,
                acknowledged,
                unknown,
                reads,
                comparisons,
                longestReturnMillis,
                verdict());
    }
}
