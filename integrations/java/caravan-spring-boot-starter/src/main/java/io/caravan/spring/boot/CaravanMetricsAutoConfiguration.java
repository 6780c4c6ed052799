package io.caravan.spring.boot;

import io.caravan.ListStore;
import io.caravan.micrometer.CaravanMetrics;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** Registers the metrics of the application's store, if the application has exactly one store and Micrometer. */
@AutoConfiguration(after = CaravanAutoConfiguration.class)
@ConditionalOnClass(MeterBinder.class)
@ConditionalOnSingleCandidate(ListStore.class)
public class CaravanMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    CaravanMetrics caravanMetrics(ListStore store) {
        return new CaravanMetrics(store);
    }
}
