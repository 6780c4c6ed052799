package io.caravan.spring.boot;

import io.caravan.Durability;
import io.caravan.FlushPolicy;
import io.caravan.StoreConfig;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.unit.DataSize;

/**
 * The settings of the store that an application embeds. See {@link StoreConfig} for their ranges.
 *
 * @param directory The store's directory, which is created if it is missing. Required.
 * @param durability The durability that a write reaches before it is acknowledged.
 * @param flushPolicy The policy that determines when writes are fsynced.
 * @param flushDelay The delay of the flush policy 'delay', from 0 to one minute.
 * @param maxValue The maximum length of a value, up to just under 32MB.
 * @param maxHeap The maximum size of the heap's files, up to 2TB. Further appends are rejected.
 * @param checkpointFloor The minimum log size between two checkpoints. A lower value shortens the log and the recovery
 *     after a crash; a higher value makes checkpoints rarer.
 */
@ConfigurationProperties("caravan")
public record CaravanProperties(
        @Nullable Path directory,
        @DefaultValue("sync") Durability durability,
        @DefaultValue("immediate") Flush flushPolicy,
        @DefaultValue("1ms") Duration flushDelay,
        @DefaultValue("1MB") DataSize maxValue,
        @DefaultValue("1TB") DataSize maxHeap,
        @DefaultValue("64MB") DataSize checkpointFloor) {

    /** The policy that determines when writes are fsynced. */
    public enum Flush {
        /** The policy {@link FlushPolicy#immediate()}. */
        IMMEDIATE,
        /** The policy {@link FlushPolicy#adaptive()}. */
        ADAPTIVE,
        /** The policy {@link FlushPolicy#fixedDelay}. */
        DELAY
    }

    /**
     * Returns the store configuration that these properties specify.
     *
     * @throws InvalidConfigurationPropertyValueException if no directory is set, or the maximum length of a value
     *     exceeds the limit
     * @throws IllegalArgumentException if another setting is out of its range
     */
    public StoreConfig toConfig() {
        if (directory == null) {
            throw new InvalidConfigurationPropertyValueException(
                    "caravan.directory", null, "The store needs a directory of its own.");
        }
        if (maxValue.toBytes() > StoreConfig.MAX_VALUE_BYTES) {
            throw new InvalidConfigurationPropertyValueException(
                    "caravan.max-value",
                    maxValue,
                    "A value has at most " + StoreConfig.MAX_VALUE_BYTES + " bytes, just under 32MB.");
        }
        return StoreConfig.builder(directory)
                .durability(durability)
                .flushPolicy(
                        switch (flushPolicy) {
                            case IMMEDIATE -> FlushPolicy.immediate();
                            case ADAPTIVE -> FlushPolicy.adaptive();
                            case DELAY -> FlushPolicy.fixedDelay(flushDelay);
                        })
                .maxValueBytes((int) maxValue.toBytes())
                .maxHeapBytes(maxHeap.toBytes())
                .checkpointFloorBytes(checkpointFloor.toBytes())
                .build();
    }
}
