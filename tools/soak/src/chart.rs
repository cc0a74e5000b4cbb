//! Lines over time as SVG, by hand: one panel below the other, with the same time.
//!
//! No background and no fonts of their own, and colours of middle brightness, so that they can be
//! read on light and on dark pages.

use std::fmt::Write as _;

// Okabe and Ito's, told apart by those who see fewer colours, too.
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const STYLE: &str = "text{font:12px sans-serif;fill:#6e7781}.head{font-size:14px}\
    line{stroke:#8b949e;stroke-opacity:.4}polyline{fill:none;stroke-width:1.5}\
    @media(prefers-color-scheme:dark){text{fill:#c9d1d9}}";
const WIDTH: f64 = 860.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 10.0;
/// The height of a panel, and what of it is above and below its lines.
const PANEL: f64 = 180.0;
const ABOVE: f64 = 44.0;
const BELOW: f64 = 20.0;
const LEGEND_STEP: f64 = 130.0;
const TICKS: u32 = 4;

/// Some lines over the same time.
#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) scale: Scale,
    pub(crate) lines: Vec<Line>,
    /// How a value is written.
    pub(crate) show: fn(f64) -> String,
}

/// Values over time, in minutes.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

/// How values become heights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero, so that flat looks flat.
    Linear,
    /// From one power of ten to another.
    Logarithmic,
}

/// Draws panels one below the other.
pub(crate) fn to_svg(panels: &[Panel]) -> String {
    let height = PANEL * count(panels.len());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <title>A long run</title>\n<style>{STYLE}</style>\n"
    );
    let points = panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
    let minutes = points.map(|point| point.0).fold(0.0, f64::max);
    for (number, panel) in panels.iter().enumerate() {
        let _ = writeln!(svg, "<g transform=\"translate(0 {})\">", PANEL * count(number));
        panel.draw(&mut svg, minutes);
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

impl Panel {
    fn draw(&self, svg: &mut String, minutes: f64) {
        text(svg, (LEFT, 16.0, "start"), "head", self.title);
        let range = self.range();
        for value in self.ticks(range) {
            let y = self.y(value, range);
            line(svg, (LEFT, y), (WIDTH - RIGHT, y));
            text(svg, (LEFT - 6.0, y + 4.0, "end"), "", &(self.show)(value));
        }
        for (number, (line, colour)) in self.lines.iter().zip(COLOURS).enumerate() {
            let x = LEFT + LEGEND_STEP * count(number);
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"24\" width=\"10\" height=\"10\" fill=\"{colour}\"/>"
            );
            text(svg, (x + 14.0, 33.0, "start"), "", line.name);
            self.draw_line(svg, line, colour, (minutes, range));
        }
        for tick in 0..=TICKS {
            let at = minutes * f64::from(tick) / f64::from(TICKS);
            text(svg, (x(at, minutes), PANEL - 6.0, "middle"), "", &format!("{at:.1} min"));
        }
    }

    fn draw_line(
        &self,
        svg: &mut String,
        line: &Line,
        colour: &str,
        (minutes, range): (f64, (f64, f64)),
    ) {
        let point = |(at, value): &(f64, f64)| {
            format!("{:.1},{:.1}", x(*at, minutes), self.y(*value, range))
        };
        let points: Vec<String> = line.points.iter().map(point).collect();
        let _ = writeln!(svg, "<polyline stroke=\"{colour}\" points=\"{}\"/>", points.join(" "));
    }

    /// The lowest and the highest value that have a place.
    fn range(&self) -> (f64, f64) {
        let values = || self.lines.iter().flat_map(|line| &line.points).map(|point| point.1);
        let highest = values().fold(0.0, f64::max).max(1.0);
        match self.scale {
            Scale::Linear => (0.0, round_up(highest)),
            Scale::Logarithmic => {
                let lowest = values().fold(highest, f64::min).max(1.0);
                let low = 10_f64.powf(lowest.log10().floor());
                (low, 10_f64.powf(highest.log10().ceil()).max(low * 10.0))
            }
        }
    }

    fn ticks(&self, (low, high): (f64, f64)) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                (0..=TICKS).map(|tick| high * f64::from(tick) / f64::from(TICKS)).collect()
            }
            Scale::Logarithmic => {
                let powers = std::iter::successors(Some(low), |value| Some(value * 10.0));
                // A power of ten is not exact after some steps.
                powers.take_while(|value| *value < high * 1.01).collect()
            }
        }
    }

    fn y(&self, value: f64, (low, high): (f64, f64)) -> f64 {
        let share = match self.scale {
            Scale::Linear => value / high,
            Scale::Logarithmic => (value.max(low) / low).log10() / (high / low).log10(),
        };
        PANEL - BELOW - share * (PANEL - ABOVE - BELOW)
    }
}

fn x(at: f64, minutes: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT - 20.0) * at / minutes.max(f64::MIN_POSITIVE)
}

/// The next number with one digit that counts, or one and a half.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(value)
}

fn text(svg: &mut String, (x, y, anchor): (f64, f64, &str), class: &str, content: &str) {
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"");
    let _ = writeln!(svg, " class=\"{class}\">{content}</text>");
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

#[expect(clippy::cast_precision_loss, reason = "panels and lines are few")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(scale: Scale, values: &[f64]) -> Panel {
        let points = values.iter().zip(0_u32..).map(|(value, at)| (f64::from(at), *value));
        let lines = vec![Line { name: "it", points: points.collect() }];
        Panel { title: "it", scale, lines, show: |value| value.to_string() }
    }

    #[test]
    fn a_scale_starts_at_zero_and_ends_above_the_highest() {
        assert_eq!(panel(Scale::Linear, &[7.0, 12.0]).range(), (0.0, 15.0));
        assert_eq!(panel(Scale::Logarithmic, &[7.0, 230.0]).range(), (1.0, 1000.0));
        assert_eq!(panel(Scale::Logarithmic, &[7.0, 230.0]).ticks((1.0, 1000.0)).len(), 4);
        assert_eq!(panel(Scale::Linear, &[]).range(), (0.0, 1.0));
    }

    #[test]
    fn higher_values_stand_higher() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let panel = panel(scale, &[20.0, 400.0]);
            let range = panel.range();
            assert!(panel.y(400.0, range) < panel.y(20.0, range));
            assert!((panel.y(range.1, range) - ABOVE).abs() < 0.001);
        }
    }

    #[test]
    fn a_picture_has_a_line_for_each() {
        let svg = to_svg(&[panel(Scale::Linear, &[1.0]), panel(Scale::Logarithmic, &[])]);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
